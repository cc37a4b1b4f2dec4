/** The worker of this process: model names, class names and images to the addon's core, boxes back. */
import { addonStatistics, type WorkerStats } from '../../api/schemas/statistics.js';
import type { GpuReading } from '../../api/schemas/gpu-reading.js';
import type { ImageResult } from '../../api/schemas/image.js';
import type { ModelDescription, ModelVersion } from '../../api/schemas/model.js';
import { LatticeError, toLatticeError } from '../../api/errors.js';
import { imagesOf } from '../../api/tiles.js';
import { inTime } from '../../base/in-time.js';
import { toMicros } from '../../base/rounded.js';
import type { Pixels } from '../../files/readable-picture.js';
import type { EngineBuild } from '../../models/engine-build.js';
import type { LargerBatches } from '../../models/larger-batches.js';
import type { LoadedModel } from '../../models/loaded-model.js';
import type { ModelRegistry } from '../../models/model-registry.js';
import type { OtherSpelling } from '../../files/other-spelling.js';
import { detectionsFrom } from '../../boxes/raw-detections.js';
import { packFound, type FoundBoxes } from '../../boxes/found-boxes.js';
import {
  engineParameters,
  leastThreshold,
  refineDetections,
} from '../../boxes/refine-detections.js';
import type { SelfCheck } from '../../models/self-check/self-check.js';
import type { NativeModel, NativeStats } from '../../native/contract.js';
import type { Core, CoreTask, RawResult } from '../../native/core.js';
import type { ComputeChoice } from './compute-choice.js';
import type { DetectRequest } from '../detector.js';
import type { Worker, WorkerSlots } from '../worker.js';

/** Async images in hand for each that is decoded ahead: the others compute, or come and go. */
const WINDOW_PER_AHEAD = 2;
/**
 * Synchronous images in hand beyond those that are decoded and computed: they wait for their files, so that a volume
 * that hangs does not stop images of other volumes.
 */
const SYNC_READS = 64;
/** Synchronous images whose answers are being sent while others are decoded and computed. */
const SYNC_IN_PASSING = 2;
/** The capacity changes when a model is loaded; it is too slow to ask the addon for every image. */
const CAPACITY_KEPT_MS = 100;

/** Share of a request's deadline in which it waits for its model to load: the rest is for the answer. */
const LOAD_SHARE = 0.9;
const LOADING_RETRY_S = 2;
/**
 * An engine may have to be built, and a volume may hang: the reload goes on after it. Below the deadline of such a
 * call.
 */
const RELOAD_MS = 50_000;

export interface NativeWorkerParts {
  workerId: string;
  nodeId: string;
  /** CPU threads that decode synchronous images. */
  threads: number;
  /** The lowest score of boxes that the engine is asked for, where a request has no `scoreFloor`. */
  scoreFloor: number;
  /** False: results do not say where a picture was taken. */
  positions: boolean;
  core: Core;
  registry: ModelRegistry;
  selfCheck: Pick<SelfCheck, 'stop'>;
  build: EngineBuild;
  larger: Pick<LargerBatches, 'close'>;
  spelling: Pick<OtherSpelling, 'open'>;
  /** Readings of the GPUs; left out on the CPU. */
  gpuReadings?(): readonly GpuReading[];
  /** Explains device and precision; called with what the default model reports, null before it is loaded. */
  explain(loaded: NativeModel | null): ComputeChoice;
}

type EngineOptions = Pick<
  CoreTask,
  'confidence' | 'iou' | 'tiles' | 'maxDetections' | 'classIds' | 'look' | 'descriptorsAbove'
>;

/** `confidence`: that the engine was asked for. */
function foundBy(raw: RawResult, model: LoadedModel, confidence: number): FoundBoxes {
  const detections = detectionsFrom(raw.boxes, model.native.names);
  const last = detections.at(-1)?.confidence ?? 0;
  const { truncated: isCut, width, height } = raw;
  const floor = isCut ? Math.max(last, confidence) : confidence;
  const { lacksVehicles } = model.classes;
  return { detections, floor, isCut, lacksVehicles, image: { width, height } };
}

export class NativeWorker implements Worker {
  readonly workerId: string;
  readonly nodeId: string;
  readonly leaving = false;
  readonly loading: WorkerSlots = { sync: 0, async: 0 };
  readonly #parts: NativeWorkerParts;
  #capacity = { slots: { sync: 1, async: 1 }, syncParallel: 1 };
  #capacityAt = -Infinity;
  /** Why the default model could not be loaded. */
  #defaultFault: LatticeError | null = null;
  #lastStats: NativeStats | null = null;
  #closed: Promise<void> | null = null;

  constructor(parts: NativeWorkerParts) {
    this.workerId = parts.workerId;
    this.nodeId = parts.nodeId;
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  get slots(): WorkerSlots {
    return this.#currentCapacity().slots;
  }

  get syncParallel(): number {
    return this.#currentCapacity().syncParallel;
  }

  #currentCapacity() {
    const now = performance.now();
    if (now - this.#capacityAt >= CAPACITY_KEPT_MS) {
      const { gpus, suggestedWindow } = this.stats();
      const { syncBatches = 1 } = this.#lastStats ?? {};
      const onCpu = this.#parts.threads + syncBatches + SYNC_IN_PASSING;
      // A GPU takes synchronous images in batches as large as those of jobs.
      const syncParallel = gpus === 0 ? onCpu : Math.max(onCpu, suggestedWindow);
      const slots = { sync: syncParallel + SYNC_READS, async: suggestedWindow };
      this.#capacity = { slots, syncParallel };
      this.#capacityAt = now;
    }
    return this.#capacity;
  }

  async detect(request: DetectRequest): Promise<ImageResult> {
    const started = performance.now();
    const { options, signal } = request;
    const { modelName } = options;
    const { registry } = this.#parts;
    this.#refuseWhenOver(signal);
    // Loaded already on all but the first request; then nothing is awaited before the submit.
    const ready = registry.ready(modelName, request.model);
    const model = ready ?? (await this.#modelFor(request));
    this.#refuseWhenOver(signal);
    if (model.isUnloaded) return this.detect(request);
    const loadMs = ready === undefined ? performance.now() - started : 0;
    registry.hold(model);
    try {
      return await this.#run(request, model, { started, loadMs });
    } finally {
      registry.release(model);
    }
  }

  async #run(
    request: DetectRequest,
    model: LoadedModel,
    { started, loadMs }: { started: number; loadMs: number },
  ): Promise<ImageResult> {
    const { options, scoreFloor, look, descriptorsAbove } = request;
    if (model.distrust !== null) throw model.distrust;
    // Refuses a threshold for a class that the model lacks.
    const own = Object.keys(options.classThresholds);
    if (own.length > 0) model.classes.ids(own);
    const classIds = model.classes.ids(options.classes);
    const floor = scoreFloor ?? this.#parts.scoreFloor;
    const run = (how: EngineOptions) => this.#runEngine(request, model, loadMs, how);
    const asked = { ...engineParameters(options, floor), classIds: null };
    const raw = await run({ ...asked, look, descriptorsAbove });
    const found = foundBy(raw, model, asked.confidence);
    // A GPU gives the best 300 boxes: those of other classes may have taken the places of some that are asked for.
    const least = leastThreshold(options);
    const isShort = found.isCut && found.floor > least && classIds !== null;
    const answer = isShort ? await run({ ...asked, confidence: least, classIds }) : raw;
    const answered = isShort ? foundBy(answer, model, least) : found;
    const { digest, source, precision } = model.version;
    // One spread, and what not every image has by name: V8 copies the fields of more spreads one by one.
    const result: ImageResult = {
      ...refineDetections(answered, options),
      processingTimeMs: toMicros(performance.now() - started),
      image: found.image,
      timingsMs: loadMs === 0 ? raw.timings : { ...raw.timings, model_load: toMicros(loadMs) },
      precision,
      modelDigest: digest,
      model: options.modelName,
      workerId: this.workerId,
    };
    if (raw.tiles !== null) result.tiles = raw.tiles;
    if (source !== digest) result.quantizedFrom = source;
    if (answer.file !== null) result.file = answer.file;
    if (this.#parts.positions && answer.position !== null) Object.assign(result, answer.position);
    if (scoreFloor !== undefined) result.found = packFound(found);
    if (raw.look !== null) result.look = raw.look;
    if (raw.descriptors !== null) result.descriptors = raw.descriptors;
    return result;
  }

  #runEngine(
    request: DetectRequest,
    model: LoadedModel,
    loadMs: number,
    how: EngineOptions,
  ): Promise<RawResult> {
    const { signal, deadlineMs = 0 } = request;
    const { core, spelling } = this.#parts;
    const run = (path: string | null) =>
      core.run({
        ...how,
        path,
        bytes: path === null ? request.image : undefined,
        id: request.id,
        signal,
        modelId: model.native.modelId,
        kind: request.kind,
        digest: request.digest,
        priority: request.priority ?? 0,
        // The executor's signal ends what waits for a model beyond it.
        deadlineMs: deadlineMs > 0 ? Math.max(1, deadlineMs - loadMs) : 0,
      });
    return request.image === undefined ? spelling.open(request.path, run) : run(null);
  }

  /** A build takes minutes, a load seconds: images of jobs wait for it, callers get a `Retry-After` in time. */
  async #modelFor({
    options,
    kind,
    deadlineMs = 0,
    model: wanted,
  }: DetectRequest): Promise<LoadedModel> {
    const { registry, build } = this.#parts;
    const { modelName } = options;
    const images = imagesOf(options.tiles) ?? 1;
    this.loading[kind] += images;
    try {
      const load = registry.load(modelName, wanted);
      if (kind === 'async') return await load;
      const ready = build.orNotReady(load);
      if (deadlineMs === 0) return await ready;
      const model = await inTime(ready, LOAD_SHARE * deadlineMs, null);
      if (model !== null) return model;
      throw new LatticeError(
        'model_not_ready',
        `The model '${modelName}' is being loaded, which takes longer than this request may wait. The load goes on.`,
        { retryAfterS: LOADING_RETRY_S },
      );
    } finally {
      this.loading[kind] -= images;
    }
  }

  #refuseWhenOver(signal?: AbortSignal): void {
    if (this.#closed !== null) {
      throw new LatticeError('shutting_down', 'The detector is stopping.');
    }
    if (signal?.aborted === true) throw new LatticeError('cancelled', 'Cancelled.');
  }

  /** Loads the default model; a failure is not thrown but makes the worker unhealthy, as the wait for it does. */
  async prepareDefault(): Promise<LatticeError | null> {
    this.#defaultFault = new LatticeError('model_not_ready', 'The default model is being loaded.', {
      retryAfterS: LOADING_RETRY_S,
    });
    await this.#load(this.#parts.registry.mainName).catch(() => undefined);
    return this.#defaultFault;
  }

  async prepare(modelName: string): Promise<ModelDescription> {
    await this.#load(modelName);
    return this.#parts.registry.describe(modelName);
  }

  async #load(modelName: string): Promise<void> {
    this.#refuseWhenOver();
    const isDefault = modelName === this.#parts.registry.mainName;
    try {
      await this.#parts.registry.load(modelName);
      if (isDefault) this.#defaultFault = null;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (isDefault) this.#defaultFault = error;
      throw error;
    }
  }

  models(): Promise<ModelDescription[]> {
    return this.#parts.registry.describeAll();
  }

  async reloadModels(): Promise<void> {
    this.#refuseWhenOver();
    const reload = this.#parts.registry.reload().then(() => this.#reloadDefault());
    await inTime(reload, RELOAD_MS, undefined);
  }

  /** A timer calls it: it loads model files that have changed and are at rest. Never rejects. */
  async refreshModels(): Promise<void> {
    if (this.#closed !== null) return;
    await this.#parts.registry.refresh();
    await this.#reloadDefault();
  }

  /** A default model that was missing or unfit may be there now; one that was removed makes the worker unhealthy. */
  async #reloadDefault(): Promise<void> {
    const { registry } = this.#parts;
    if (this.#closed !== null || registry.ready(registry.mainName) !== undefined) return;
    const code = this.#defaultFault?.code;
    if (code !== undefined && code !== 'unknown_model' && code !== 'invalid_model') return;
    await this.#load(registry.mainName).catch(() => undefined);
  }

  keepModels(versions: readonly ModelVersion[]): void {
    if (this.#closed === null) this.#parts.registry.keep(versions);
  }

  /** Bytes of a file beneath the image roots, by the rules of `detect`. */
  async readImage(path: string): Promise<Buffer> {
    this.#refuseWhenOver();
    const { core, spelling } = this.#parts;
    return await spelling.open(path, (each) => core.readFile(each));
  }

  /** Pixels of an encoded image, by the rules of `detect`. */
  async decodeImage(bytes: Buffer): Promise<Pixels> {
    this.#refuseWhenOver();
    return await this.#parts.core.decodeImage(bytes);
  }

  stats(): WorkerStats {
    const native = this.#closed === null ? this.#parts.core.stats() : this.#lastStats;
    this.#lastStats = native;
    const loaded = this.#parts.registry.ready(this.#parts.registry.mainName);
    return {
      ...this.#parts.explain(loaded?.native ?? null),
      ...addonStatistics(native),
      modelSwaps: this.#parts.registry.changes.swapped,
      refusedModelFiles: this.#parts.registry.changes.refused,
      hangingFolders: native?.hangingRoots.length ?? 0,
      suggestedWindow: (native?.lookAhead ?? 1) * WINDOW_PER_AHEAD + (native?.readAhead ?? 0),
      gpuReadings: this.#parts.gpuReadings?.(),
    };
  }

  /** Why the GPU's JPEG engines do not decode; null where they do and without a GPU. */
  missingHardwareDecode(): string | null {
    return this.#closed === null ? this.#parts.core.decodeStats().hardwareMissing : null;
  }

  /** The default model's own fault, or a loaded model that fails its self-check: then the device is in doubt. */
  unhealthy(): LatticeError | null {
    const { registry, build, core } = this.#parts;
    if (core.deviceLost !== null) return core.deviceLost;
    const isThere = this.#closed !== null || registry.ready(registry.mainName) !== undefined;
    const building = isThere ? null : build.notReady();
    if (building !== null) return building;
    // A request may have loaded the default model since, from a file put there after the start.
    const missing = registry.ready(registry.mainName) === undefined ? this.#defaultFault : null;
    return missing ?? registry.loaded().find((model) => model.distrust !== null)?.distrust ?? null;
  }

  /** Stops intake, cancels what waits and frees the core; every open promise settles. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#lastStats = this.#parts.core.stats();
    this.#parts.selfCheck.stop();
    this.#parts.build.stop();
    await Promise.all([this.#parts.larger.close(), this.#parts.core.close()]);
  }
}
