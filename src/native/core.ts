/** The native core for TypeScript: one promise per task, errors of the table. This folder alone uses the addon. */
import { createHash } from 'node:crypto';
import { recentAge, type FileRead } from '../api/schemas/file-read.js';
import { ERRORS, LatticeError, type ErrorCode } from '../api/errors.js';
import type { ImageTiles, PictureLook, Position, Timings } from '../api/schemas/image.js';
import { rounded, toMicros } from '../base/rounded.js';
import { loadAddon } from './addon-loader.js';
import {
  DIGEST_FIELDS,
  FileField,
  NATIVE_CODES,
  RESULT_STRIDE,
  ResultField,
  type HowToLoad,
  type NativeBuildInfo,
  type NativeCore,
  type NativeCoreOptions,
  type NativeDecodeStats,
  type NativeGpus,
  type NativeModel,
  type NativeModelDescription,
  type NativePixels,
  type NativeStats,
  type NativeTask,
  type OnNativeResults,
} from './contract.js';

/** Ids that callers pick are below; those that the core picks start here. */
const FIRST_OWN_ID = 2 ** 52;

/** The core picks an id when it is left out. Aborting `signal` cancels the task. */
export type CoreTask = Omit<NativeTask, 'id'> & {
  id?: number | undefined;
  signal?: AbortSignal | undefined;
};

/** The result of one image. */
export interface RawResult {
  /** Size of the image after EXIF orientation. */
  width: number;
  height: number;
  /** n x 6: x1, y1, x2, y2, confidence, class id; by confidence, highest first. */
  boxes: Float32Array;
  timings: Timings;
  /** Images of the same batch, this one among them. */
  batch: number;
  truncated: boolean;
  totalMs: number;
  /** Null for an image that was not cut. */
  tiles: ImageTiles | null;
  /** Null where the task brought the image. */
  file: FileRead | null;
  /** Null where the picture does not say where it was taken. */
  position: Position | null;
  /** Null where the task did not ask for it. */
  look: PictureLook | null;
  /** See `ImageResult`. */
  descriptors: Uint8Array | null;
}

interface Waiting {
  resolve(result: RawResult): void;
  reject(error: LatticeError | TypeError): void;
  signal: AbortSignal | undefined;
  cancel: () => void;
}

/** Versions of what was built in. Throws `AddonLoadError`. */
export function buildInfo(): NativeBuildInfo {
  return loadAddon().buildInfo();
}

let foundGpus: NativeGpus | null = null;

/** The GPUs that can be used, or what is missing, at the first call in this process. Throws `AddonLoadError`. */
export function gpus(): NativeGpus {
  // CUDA lists the GPUs once per process: a second look at the same start only takes time.
  foundGpus ??= loadAddon().gpus();
  return foundGpus;
}

/** Calls `NativeAddon.describeModel`. Rejects with `unknown_model` or `invalid_model`. */
export async function describeModel(path: string): Promise<NativeModelDescription> {
  return loadAddon().describeModel(path).catch(rethrow);
}

/** A model file with the weights that lie beside it. Rejects as `describeModel`, naming the file that is missing. */
export async function readModel(path: string): Promise<Buffer> {
  return loadAddon().readModel(path).catch(rethrow);
}

/** Calls `NativeAddon.readInKnownLayout`. Rejects with `unknown_model` or `invalid_model`. */
export async function readInKnownLayout(path: string): Promise<Buffer> {
  return loadAddon().readInKnownLayout(path).catch(rethrow);
}

/** Calls `NativeAddon.gpuLimits`. Rejects with `unknown_model` or `invalid_model`. */
export async function gpuLimits(path: string): Promise<string[]> {
  return loadAddon().gpuLimits(path).catch(rethrow);
}

/** The digest that `NativeModel.sha256` has. Rejects with the errors of `readModel`. */
export async function digestModel(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readModel(path))
    .digest('hex');
}

/** Calls `NativeAddon.readKept`. Never rejects. */
export async function readKept(folder: string, name: string): Promise<string | null> {
  return loadAddon().readKept(folder, name);
}

/** Calls `NativeAddon.keep`. Rejects with `internal_error` and the reason. */
export async function keep(folder: string, name: string, text: string): Promise<void> {
  return loadAddon().keep(folder, name, text).catch(rethrow);
}

type DecodeLimits = Pick<NativeCoreOptions, 'maxPixels' | 'maxSide'>;

/** Pixels of an encoded image. Rejects with the codes of an image. */
export async function decodeImage(
  bytes: Uint8Array,
  { maxPixels, maxSide }: DecodeLimits,
): Promise<NativePixels> {
  return loadAddon().decodeImage(bytes, maxPixels, maxSide).catch(rethrow);
}

type Always = 'roots' | 'device' | 'threads' | 'maxFileBytes' | 'maxPixels' | 'maxSide';
/** Options that are left out have the values of `PLAIN`. */
export type CoreOptions = Pick<NativeCoreOptions, Always> &
  Partial<Omit<NativeCoreOptions, Always>>;

const PLAIN = {
  precision: 'auto',
  asyncYields: false,
  engineCache: '',
  crashMarkerPath: '',
} as const;

/** Called once when the device faulted: no task of this process can run any more, and it should end. */
export type OnDeviceLost = (error: LatticeError) => void;

/**
 * Starts a core. Throws `AddonLoadError`, `LatticeError` (a root that is no folder, a device that is not there) or
 * `TypeError` for options of a wrong type. Close it: its threads live until then.
 */
export function openCore(options: CoreOptions, onDeviceLost?: OnDeviceLost): Core {
  try {
    return new Core({ ...PLAIN, ...options }, onDeviceLost);
  } catch (error) {
    throw namingRoot(error, options.roots);
  }
}

export class Core {
  readonly #native: NativeCore;
  readonly #limits: DecodeLimits;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: NativeTask[] = [];
  /** The memory of the last results, see `FileField`. */
  #integers: BigUint64Array = new BigUint64Array();
  #lastId = FIRST_OWN_ID;
  #closing: Promise<void> | null = null;
  #deviceLost: LatticeError | null = null;

  constructor(options: NativeCoreOptions, onDeviceLost?: OnDeviceLost) {
    const addon = loadAddon();
    this.#limits = options;
    this.#native = translated(
      () =>
        new addon.Core(
          options,
          (...results) => {
            this.#settle(...results);
          },
          ({ message }) => {
            this.#deviceLost = new LatticeError('gpu_lost', message);
            onDeviceLost?.(this.#deviceLost);
          },
        ),
    );
  }

  /** Calls `NativeCore.loadModel`. Rejects with `unknown_model`, `invalid_model` or `shutting_down`. */
  async loadModel(path: string, how?: HowToLoad): Promise<NativeModel> {
    this.#refuseWhenClosed();
    return this.#native.loadModel(path, how).catch(rethrow);
  }

  /** Calls `NativeCore.addBatches`. Rejects also with `shutting_down`. */
  async addBatches(modelId: number, batches: number[]): Promise<NativeModel> {
    this.#refuseWhenClosed();
    return this.#native.addBatches(modelId, batches).catch(rethrow);
  }

  unloadModel(modelId: number): void {
    this.#refuseWhenClosed();
    // Tasks that were given before still find their model.
    this.#send();
    this.#native.unloadModel(modelId);
  }

  /**
   * Runs one image. Calls of one tick cross to the addon together. Rejects with a `LatticeError`, or a `TypeError`
   * for a task of a wrong shape or an id that is live already.
   */
  run(task: CoreTask): Promise<RawResult> {
    const { signal, id = ++this.#lastId } = task;
    return new Promise((resolve, reject) => {
      if (this.#closing !== null) {
        reject(closed());
        return;
      }
      if (this.#waiting.has(id)) {
        reject(new TypeError(`task id ${id} is live already`));
        return;
      }
      const cancel = () => this.cancel([id]);
      this.#waiting.set(id, { resolve, reject, signal, cancel });
      signal?.addEventListener('abort', cancel, { once: true });
      this.#unsent.push({ ...task, id });
      if (this.#unsent.length === 1) {
        queueMicrotask(() => {
          this.#send();
        });
      }
    });
  }

  /** The promises of these tasks reject with `cancelled`. Returns how many had not started. */
  cancel(ids: number[]): number {
    if (this.#closing !== null) return 0;
    this.#send();
    return this.#native.cancel(ids);
  }

  /** Bytes of a file, by the rules of image paths. */
  async readFile(path: string): Promise<Buffer> {
    this.#refuseWhenClosed();
    return this.#native.readFile(path).catch(rethrow);
  }

  /** Pixels of an encoded image, within the limits of this core. */
  async decodeImage(bytes: Uint8Array): Promise<NativePixels> {
    this.#refuseWhenClosed();
    return decodeImage(bytes, this.#limits);
  }

  stats(): NativeStats {
    this.#refuseWhenClosed();
    return this.#native.stats();
  }

  decodeStats(): NativeDecodeStats {
    this.#refuseWhenClosed();
    return this.#native.decodeStats();
  }

  /** Rejects what waits with `shutting_down`, finishes what is in hand, ends the threads. Idempotent. */
  close(): Promise<void> {
    if (this.#closing === null) {
      this.#send();
      this.#closing = this.#native.close();
    }
    return this.#closing;
  }

  get isClosed(): boolean {
    return this.#closing !== null;
  }

  /** Why the device can no longer be used; null while it can. The driver does not recover in this process. */
  get deviceLost(): LatticeError | null {
    return this.#deviceLost;
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== null) throw closed();
  }

  #send(): void {
    const tasks = this.#unsent;
    if (tasks.length === 0) return;
    this.#unsent = [];
    try {
      this.#native.submit(tasks);
    } catch {
      // The addon took none; one by one, only the wrong ones fail.
      for (const task of tasks) this.#sendAlone(task);
    }
  }

  #sendAlone(task: NativeTask): void {
    try {
      this.#native.submit([task]);
    } catch (error) {
      this.#take(task.id)?.reject(error as TypeError);
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.signal?.removeEventListener('abort', waiting.cancel);
    return waiting;
  }

  #settle(...[meta, boxes, messages, looks, descriptors]: Parameters<OnNativeResults>): void {
    if (this.#integers.buffer !== meta.buffer) this.#integers = new BigUint64Array(meta.buffer);
    for (const [index, rows] of boxes.entries()) {
      const start = index * RESULT_STRIDE;
      const file = toFile(this.#integers, start);
      const field = (at: number) => meta[start + at] ?? 0;
      const waiting = this.#take(field(ResultField.id));
      const code = NATIVE_CODES[field(ResultField.code)] ?? 'internal_error';
      const more = { look: looks?.[index] ?? null, descriptors: descriptors?.[index] ?? null };
      if (code === 'ok') waiting?.resolve(toResult(field, { boxes: rows, file, ...more }));
      else waiting?.reject(toImageError(code, messages[index] ?? code, file));
    }
  }
}

function closed(): LatticeError {
  return new LatticeError('shutting_down', 'The native core is closed.');
}

/** A field of a result, by its place. */
type Field = (at: number) => number;

function toResult(
  field: Field,
  { boxes, file, look, descriptors }: Pick<RawResult, 'boxes' | 'file' | 'look' | 'descriptors'>,
): RawResult {
  return {
    width: field(ResultField.width),
    height: field(ResultField.height),
    boxes,
    // The addon has the model loaded before it sees an image.
    timings: {
      queue: toMicros(field(ResultField.queueMs)),
      decode: toMicros(field(ResultField.decodeMs)),
      preprocess: toMicros(field(ResultField.preprocessMs)),
      inference: toMicros(field(ResultField.inferenceMs)),
      postprocess: toMicros(field(ResultField.postprocessMs)),
    },
    batch: field(ResultField.batch),
    truncated: field(ResultField.truncated) !== 0,
    totalMs: field(ResultField.totalMs),
    tiles: toTiles(field),
    file,
    position: toPosition(field),
    look,
    descriptors,
  };
}

/** `start`: the place of the first field of the result. */
function toFile(integers: BigUint64Array, start: number): FileRead | null {
  const field = (at: number) => integers[start + at] ?? 0n;
  const read = field(FileField.read);
  if (read === 0n) return null;
  const file: FileRead = {
    size: Number(field(FileField.size)),
    // Files may be older than 1970.
    modifiedNs: String(BigInt.asIntN(64, field(FileField.modified))),
    changedNs: String(BigInt.asIntN(64, field(FileField.changed))),
    device: String(field(FileField.device)),
    inode: String(field(FileField.inode)),
    readAt: Number(read / 1_000n) / 1e6,
  };
  const digest = toDigest(field);
  if (digest !== null) file.digest = digest;
  return file;
}

const QUARTERS = Array.from({ length: DIGEST_FIELDS }, (_, quarter) => FileField.digest + quarter);

/** Null where the task did not ask for it. */
function toDigest(field: (at: number) => bigint): string | null {
  if (QUARTERS.every((at) => field(at) === 0n)) return null;
  return QUARTERS.map((at) => field(at).toString(16).padStart(16, '0')).join('');
}

/** An image that cannot be used may be one that is still being written. */
function toImageError(code: ErrorCode, message: string, file: FileRead | null): LatticeError {
  if (file === null || ERRORS[code].ofPart !== true) return new LatticeError(code, message);
  const age = recentAge(file);
  if (age === null) return new LatticeError(code, message, { file });
  const detail = `${message.replace(/\.$/, '')}. The file was modified ${age.toFixed(1)} s before it was read.`;
  return new LatticeError(code, detail, { file });
}

function toTiles(field: Field): ImageTiles | null {
  const [columns, rows] = [field(ResultField.tileColumns), field(ResultField.tileRows)];
  if (columns * rows <= 1) return null;
  const [width, height] = [field(ResultField.tileWidth), field(ResultField.tileHeight)];
  return { columns, rows, width, height };
}

/** To about a tenth of a metre, which is finer than what cameras know. */
const POSITION_DECIMALS = 6;

function toPosition(field: Field): Position | null {
  const [latitude, longitude] = [field(ResultField.latitude), field(ResultField.longitude)];
  if (Number.isNaN(latitude)) return null;
  return {
    latitude: rounded(latitude, POSITION_DECIMALS),
    longitude: rounded(longitude, POSITION_DECIMALS),
  };
}

/** Errors of the addon carry a code of the table; misuse (a TypeError) has none and stays as it is. */
function toCoreError(error: unknown): unknown {
  const code = (error as { code?: unknown }).code;
  const known = NATIVE_CODES.find((each) => each === code);
  if (!(error instanceof Error) || known === undefined || known === 'ok') return error;
  return new LatticeError(known satisfies ErrorCode, error.message, { cause: error });
}

/** Converts the error of a promise of the addon. */
function rethrow(error: unknown): never {
  throw toCoreError(error);
}

/** Converts the error of a call of the addon. */
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return rethrow(error);
  }
}

/** The addon names image folders by position, since some messages go to callers; this one goes to the operator. */
function namingRoot(error: unknown, roots: readonly string[]): unknown {
  if (!(error instanceof LatticeError) || error.code !== 'image_not_found') return error;
  const named = error.message.replace(/folder (\d+) of \d+/, (position, number) => {
    return `folder ${roots[Number(number) - 1] ?? position}`;
  });
  return new LatticeError(error.code, named, { cause: error });
}
