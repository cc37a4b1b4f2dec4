/** The detector port over the native core: one process, its own threads. */
import { setMaxListeners } from 'node:events';
import { LatticeError, toLatticeError } from '../errors.js';
import type { NativeModel, NativeStats } from '../native/contract.js';
import type { Core, RawResult } from '../native/core.js';
import type { CanaryWatch } from '../models/self-check/canary-watch.js';
import type { ComputeChoice } from './compute-choice.js';
import type { DetectorStats } from '../contract/detector-stats.js';
import type { ImageResult } from '../contract/image-result.js';
import type { ModelDescription } from '../contract/model-description.js';
import type { DetectRequest, Detector } from './detector.js';
import { remaining, settleEarly } from './early-settling.js';
import type { EngineBuild } from '../models/engine-build.js';
import type { GpuReading } from '../contract/gpu-reading.js';
import type { LoadedModel } from '../models/loaded-model.js';
import type { ModelRegistry } from '../models/model-registry.js';
import { detectionsFrom } from '../models/raw-detections.js';
import { Throughput } from './throughput.js';

/** Async images in hand for each that is decoded ahead: the others compute, or come and go. */
const WINDOW_PER_AHEAD = 2;
const shuttingDown = () => new LatticeError('shutting_down', 'The detector is stopping.');

export interface NativeDetectorParts {
  workerId: string;
  core: Core;
  registry: ModelRegistry;
  canary: CanaryWatch;
  build: EngineBuild;
  /** Called once, when the last GPU is lost: only a new process can use it again. */
  onGpuLost?(error: LatticeError): void;
  /** Of the GPUs that compute; left out on the CPU. */
  gpuReadings?(): readonly GpuReading[];
  /** Ids for tasks whose caller picked none; apart from those that callers pick. */
  nextId(): number;
  /** Explains device and precision; called with what the default model reports, null before it is loaded. */
  explain(loaded: NativeModel | null): ComputeChoice;
}

export class NativeDetector implements Detector {
  readonly workerId: string;
  readonly #parts: NativeDetectorParts;
  readonly #throughput = new Throughput();
  readonly #stopping = new AbortController();
  #completed = 0;
  #failed = 0;
  /** Why the default model could not be loaded. */
  #defaultFault: LatticeError | null = null;
  #gpuLost: LatticeError | null = null;
  #lastStats: NativeStats | null = null;
  #closed: Promise<void> | null = null;

  constructor(parts: NativeDetectorParts) {
    this.workerId = parts.workerId;
    this.#parts = parts;
    setMaxListeners(0, this.#stopping.signal);
  }

  async detect(request: DetectRequest): Promise<ImageResult> {
    this.#throughput.begin();
    let ok = false;
    try {
      const result = await this.#detect(request);
      ok = true;
      return result;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.code === 'gpu_lost') this.loseDevice(error);
      throw error;
    } finally {
      this.#throughput.end(ok);
      if (ok) this.#completed += 1;
      else this.#failed += 1;
    }
  }

  async #detect(request: DetectRequest): Promise<ImageResult> {
    const started = performance.now();
    const { options, signal, deadlineMs } = request;
    this.#refuseWhenOver(signal);
    const { registry, core } = this.#parts;
    // Loaded already on all but the first request; then nothing is awaited before the submit.
    const model =
      registry.ready(options.modelName) ??
      (await settleEarly(this.#modelFor(request), {
        signal,
        stopping: this.#stopping.signal,
        deadlineMs,
      }));
    if (model.distrust !== null) throw model.distrust;
    const classIds = model.classes.ids(options.classes);
    this.#refuseWhenOver(signal);
    const id = request.id ?? this.#parts.nextId();
    const cancel = () => core.cancel([id]);
    if (signal !== undefined) {
      // One signal stands for all images of a job: many listeners are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', cancel, { once: true });
    }
    try {
      const raw = await core.run({
        id,
        modelId: model.native.modelId,
        path: request.path,
        kind: request.class,
        priority: request.priority ?? 0,
        deadlineMs: remaining(deadlineMs, started),
        confidence: options.confidence,
        iou: options.iou,
        maxDetections: options.maxDetections,
        classIds,
      });
      return this.#imageResult(raw, model, options.modelName, started);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** A build takes minutes: images of jobs wait for it, callers are told when to come again. */
  #modelFor({ options, class: kind }: DetectRequest): Promise<LoadedModel> {
    const { registry, build } = this.#parts;
    const loading = registry.load(options.modelName);
    return kind === 'async' ? loading : build.orNotReady(loading);
  }

  /** The device is of no use to this process any more. */
  loseDevice(error: LatticeError): void {
    if (this.#gpuLost !== null) return;
    this.#gpuLost = error;
    this.#parts.onGpuLost?.(error);
  }

  get isDeviceLost(): boolean {
    return this.#gpuLost !== null;
  }

  #refuseWhenOver(signal: AbortSignal | undefined): void {
    if (this.#closed !== null) throw shuttingDown();
    if (signal?.aborted === true) throw new LatticeError('cancelled', 'Cancelled.');
  }

  #imageResult(
    raw: RawResult,
    model: LoadedModel,
    modelName: string,
    started: number,
  ): ImageResult {
    return {
      detections: detectionsFrom(raw.boxes, model.native.names),
      image: { width: raw.width, height: raw.height },
      timingsMs: raw.timings,
      processingTimeMs: Math.round((performance.now() - started) * 1e3) / 1e3,
      model: modelName,
      workerId: this.workerId,
      truncated: raw.truncated,
    };
  }

  /** Loads the default model; a failure is not thrown but makes the detector unhealthy. */
  async prepareDefault(): Promise<LatticeError | null> {
    await this.#load(this.#parts.registry.defaultName).catch(() => undefined);
    return this.#defaultFault;
  }

  async prepare(modelName: string): Promise<ModelDescription> {
    await this.#load(modelName);
    return this.#parts.registry.describe(modelName);
  }

  async #load(modelName: string): Promise<void> {
    if (this.#closed !== null) throw shuttingDown();
    const isDefault = modelName === this.#parts.registry.defaultName;
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

  async readImage(path: string): Promise<Buffer> {
    if (this.#closed !== null) throw shuttingDown();
    return await this.#parts.core.readFile(path);
  }

  stats(): DetectorStats {
    const native = this.#closed === null ? this.#parts.core.stats() : this.#lastStats;
    this.#lastStats = native;
    const loaded = this.#parts.registry.ready(this.#parts.registry.defaultName);
    return {
      ...this.#parts.explain(loaded?.native ?? null),
      queuedSync: native?.queuedSync ?? 0,
      queuedAsync: native?.queuedAsync ?? 0,
      heldBytes: native?.heldBytes ?? 0,
      hangingFolders: native?.hangingRoots.length ?? 0,
      inFlight: this.#throughput.inHand,
      completed: this.#completed,
      failed: this.#failed,
      imagesPerSecond: this.#throughput.perSecond(),
      suggestedWindow: (native?.lookAhead ?? 1) * WINDOW_PER_AHEAD + (native?.readAhead ?? 0),
      gpuReadings: this.#parts.gpuReadings?.(),
    };
  }

  /** Why the GPU's JPEG engines do not decode; null where they do and without a GPU. */
  missingHardwareDecode(): string | null {
    return this.#closed === null ? this.#parts.core.decodeStats().hardwareMissing : null;
  }

  /** The default model's own fault, or a loaded model that failed a later self-check: then the device is in doubt. */
  unhealthy(): LatticeError | null {
    const { registry, build } = this.#parts;
    if (this.#gpuLost !== null) return this.#gpuLost;
    const isThere = this.#closed !== null || registry.ready(registry.defaultName) !== undefined;
    const building = isThere ? null : build.notReady();
    if (building !== null) return building;
    // A request may have loaded the default model since, from a file put there after the start.
    const missing = registry.ready(registry.defaultName) === undefined ? this.#defaultFault : null;
    return missing ?? registry.loaded().find((model) => model.distrust !== null)?.distrust ?? null;
  }

  /** Stops intake, cancels what waits and frees the core; every open promise settles. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#lastStats = this.#parts.core.stats();
    this.#parts.canary.stop();
    this.#parts.build.stop();
    this.#stopping.abort(shuttingDown());
    await this.#parts.core.close();
  }
}
