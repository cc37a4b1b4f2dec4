/** Models by name: loaded once, refused once, described for `GET /v1/models`. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { NativeModel, NativeModelDescription } from '../native/contract.js';
import { describeModel } from '../native/core.js';
import { ClassFilter } from './class-filter.js';
import type { ModelDescription, Precision } from '../api/model.js';
import { eightBitPath, findEightBitCopy, isProven } from './eight-bit-copy.js';
import { digestOf, type LoadedModel } from './loaded-model.js';
import type { ModelFile, ModelFolder } from './model-folder.js';
import { byUse, unloadedFor } from './model-memory.js';
import { thresholdOf } from './own-threshold.js';

export interface ModelLoader {
  /** As `NativeCore.loadModel`. */
  loadModel(path: string, eightBitPath?: string): Promise<NativeModel>;
  unloadModel(modelId: number): void;
}

export interface ModelRegistryParts {
  folder: ModelFolder;
  loader: ModelLoader;
  /** `int8` is for models that have a copy in 8 bits; `auto` takes a proven one where it is faster. */
  precision: Precision;
  /** The 8-bit copy of this model cannot be used; the original is. */
  onUnfitCopy(model: string, fault: string): void;
  /** Checks a fresh model before its first request, sets its `agreement`, and rejects with `invalid_model` to refuse it. */
  admit(model: LoadedModel): Promise<void>;
  /** Bytes that the loaded models may take together; a fresh one comes on top until it is admitted. */
  memoryBudget: number;
}

/** A model that did not fit into memory is tried again after this time: other processes may have freed memory. */
const TOO_LARGE_MS = 10 * 60_000;

const UNKNOWN: NativeModelDescription = { names: [], metadata: {} };

/** Arguments of `ModelLoader.loadModel`. */
interface ModelFiles {
  path: string;
  eightBitPath?: string;
}

/** A file that cannot be used, remembered until size or time of change differ. */
interface Refusal {
  fingerprint: string;
  error: LatticeError;
}

/**
 * Models are unloaded only for a model that has loaded and passed its check, because its memory is not known earlier; a
 * file that is missing or unusable unloads none. If memory runs short during a load, others are unloaded although that
 * load may still fail; a second time only after `TOO_LARGE_MS`.
 */
export class ModelRegistry {
  readonly #parts: ModelRegistryParts;
  /** By name, ready for use without touching the disk. */
  readonly #ready = new Map<string, LoadedModel>();
  /** By path: names may share a file, and a file is compiled once. */
  readonly #loading = new Map<string, Promise<LoadedModel>>();
  readonly #refused = new Map<string, Refusal>();
  /** By path: when memory was too short for the file with nothing but the default model beside it. */
  readonly #tooLarge = new Map<string, { fingerprint: string; since: number }>();
  /** The last load: they come one after another, so that each knows what the others take. */
  #turn: Promise<unknown> = Promise.resolve();
  #uses = 0;

  constructor(parts: ModelRegistryParts) {
    this.#parts = parts;
  }

  get defaultName(): string {
    return this.#parts.folder.defaultName;
  }

  /** The model when it is loaded; never waits. Counts as a use. */
  ready(name: string): LoadedModel | undefined {
    const model = this.#ready.get(name);
    if (model !== undefined) model.lastUse = this.#uses += 1;
    return model;
  }

  /** Every loaded model once. */
  loaded(): LoadedModel[] {
    return [...new Set(this.#ready.values())];
  }

  /** Rejects with `unknown_model`, or `invalid_model` with the reason. */
  async load(name: string): Promise<LoadedModel> {
    const known = this.ready(name);
    if (known !== undefined) return known;
    const file = await this.#parts.folder.find(name);
    const fingerprint = await fingerprintOf(file.path);
    const refusal = this.#refused.get(file.path);
    if (refusal?.fingerprint === fingerprint) throw refusal.error;
    this.#refused.delete(file.path);
    let loading = this.#loading.get(file.path);
    if (loading === undefined) {
      loading = this.#turn.then(() => this.#loadFile(file, fingerprint));
      this.#turn = loading.catch(() => undefined);
      this.#loading.set(file.path, loading);
    }
    const model = await loading;
    // Another model may have caused its unloading meanwhile.
    if (this.#loading.get(file.path) !== loading) return this.load(name);
    this.#ready.set(name, model);
    return model;
  }

  async #loadFile(file: ModelFile, fingerprint: string): Promise<LoadedModel> {
    try {
      const model = await this.#loadInItsPrecision(file, fingerprint);
      this.#makeRoomFor(model);
      return model;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      // Only a fault of the file itself is remembered; lack of memory or a stop may have ended by the next request.
      if (error.code === 'invalid_model') this.#refused.set(file.path, { fingerprint, error });
      this.#loading.delete(file.path);
      throw error;
    }
  }

  async #loadInItsPrecision(file: ModelFile, fingerprint: string): Promise<LoadedModel> {
    const { precision } = this.#parts;
    const original = { path: file.path };
    if (precision !== 'auto' && precision !== 'int8') {
      return this.#loadAdmitted(file, original, fingerprint);
    }
    const copy = await findEightBitCopy(file.path);
    if (precision === 'int8') {
      if (copy === null) throw withoutCopy(file);
      return this.#loadAdmitted(file, { path: copy.path }, fingerprint);
    }
    if (copy === null || !isProven(copy)) return this.#loadAdmitted(file, original, fingerprint);
    try {
      const either = { path: file.path, eightBitPath: copy.path };
      return await this.#loadAdmitted(file, either, fingerprint);
    } catch (thrown) {
      const { code, message } = toLatticeError(thrown);
      if (code !== 'invalid_model') throw thrown;
      this.#parts.onUnfitCopy(file.name, message);
      return this.#loadAdmitted(file, original, fingerprint);
    }
  }

  async #loadAdmitted(
    file: ModelFile,
    files: ModelFiles,
    fingerprint: string,
  ): Promise<LoadedModel> {
    const native = await this.#loadWhereThereIsRoom(files, fingerprint);
    const lastUse = (this.#uses += 1);
    const classes = new ClassFilter(native.names);
    const model: LoadedModel = { file, native, classes, lastUse, agreement: null, distrust: null };
    try {
      await this.#parts.admit(model);
    } catch (error) {
      this.#parts.loader.unloadModel(native.modelId);
      throw error;
    }
    return model;
  }

  /** If memory is short, unloads models: the least recently used first, the default one never. */
  async #loadWhereThereIsRoom(
    { path, eightBitPath }: ModelFiles,
    fingerprint: string,
  ): Promise<NativeModel> {
    for (;;) {
      try {
        return await this.#parts.loader.loadModel(path, eightBitPath);
      } catch (thrown) {
        if (toLatticeError(thrown).code !== 'overloaded') throw thrown;
        if (this.#isTooLarge(path, fingerprint)) throw thrown;
        if (this.#unloadLeastUsed()) continue;
        this.#tooLarge.set(path, { fingerprint, since: performance.now() });
        throw thrown;
      }
    }
  }

  #isTooLarge(path: string, fingerprint: string): boolean {
    const known = this.#tooLarge.get(path);
    if (known?.fingerprint !== fingerprint) return false;
    return performance.now() - known.since < TOO_LARGE_MS;
  }

  #unloadLeastUsed(): boolean {
    const standard = this.#ready.get(this.defaultName);
    const least = byUse(this.loaded()).find((model) => model !== standard);
    if (least !== undefined) this.#unload(least);
    return least !== undefined;
  }

  /** Unloads what the budget cannot hold beside it. */
  #makeRoomFor(fresh: LoadedModel): void {
    const standard = this.#ready.get(this.defaultName);
    unloadedFor(fresh, this.loaded(), standard, this.#parts.memoryBudget).forEach((model) => {
      this.#unload(model);
    });
  }

  #unload(model: LoadedModel): void {
    for (const [name, other] of this.#ready) if (other === model) this.#ready.delete(name);
    this.#loading.delete(model.file.path);
    this.#parts.loader.unloadModel(model.native.modelId);
  }

  async describe(name: string): Promise<ModelDescription> {
    return this.#describe(await this.#parts.folder.find(name));
  }

  /** The default model first. */
  async describeAll(): Promise<ModelDescription[]> {
    return Promise.all((await this.#parts.folder.list()).map((file) => this.#describe(file)));
  }

  async #describe(file: ModelFile): Promise<ModelDescription> {
    const model =
      this.#ready.get(file.name) ?? this.loaded().find((other) => other.file.path === file.path);
    const native = model?.native ?? null;
    const fault = model === undefined ? await this.#refusalOf(file) : model.distrust;
    // A file that is no ONNX is refused when a request names it; listing is no load.
    const { names, metadata } = native ?? (await describeModel(file.path).catch(() => UNKNOWN));
    const unrefused = native === null ? 'available' : 'ready';
    return {
      name: file.name,
      bundled: file.bundled,
      isDefault: file.name === this.defaultName,
      state: fault === null ? unrefused : 'refused',
      reason: fault?.message ?? null,
      classes: names,
      device: native?.device ?? null,
      precision: native?.precision ?? null,
      digest: native && digestOf(native),
      agreement: model?.agreement ?? null,
      input: native && { width: native.inputWidth, height: native.inputHeight },
      memoryBytes: native?.memoryBytes ?? null,
      licence: file.licence ?? metadata.license ?? null,
      confidenceThreshold: thresholdOf(metadata),
    };
  }

  async #refusalOf({ path }: ModelFile): Promise<LatticeError | null> {
    const refusal = this.#refused.get(path);
    return refusal?.fingerprint === (await fingerprintOf(path)) ? refusal.error : null;
  }
}

function withoutCopy({ name }: ModelFile): LatticeError {
  const stem = name.replace(/\.pt$/, '');
  return new LatticeError(
    'invalid_model',
    `LATTICE_PRECISION=int8, and the model '${name}' has no 8-bit copy that was made from its file: ` +
      `lattice model quantize ${stem} --images PHOTOS makes one.`,
  );
}

/**
 * Differs once a model's file, its copy in 8 bits, or a file that may hold its weights was replaced, came or went away:
 * these may have any name.
 */
async function fingerprintOf(path: string): Promise<string> {
  const folder = dirname(path);
  const entries = await readdir(folder).catch(() => []);
  const others = entries.filter((entry) => !entry.endsWith('.onnx')).sort();
  const files = [path, eightBitPath(path), ...others.map((entry) => join(folder, entry))];
  const parts = files.map((each) =>
    stat(each).then(
      (entry) => `${entry.size}:${entry.mtimeMs}:${entry.ino}`,
      () => '',
    ),
  );
  return (await Promise.all(parts)).join(' ');
}
