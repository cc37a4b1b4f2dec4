/**
 * Runs images on workers: the queue, the deadline of each request, the counters and the choice of the worker. A worker
 * gets at most as many images as it has slots, so that the order of waiting images stays here. Images of a lost worker
 * are handed out again. Lives on the main thread.
 */
import type { DetectorStats } from '../api/schemas/statistics.js';
import type { ImageResult } from '../api/schemas/image.js';
import type { ModelDescription, ModelVersion } from '../api/schemas/model.js';
import { ERRORS, LatticeError, toLatticeError, type ErrorCode } from '../api/errors.js';
import { rounded } from '../base/rounded.js';
import type { Pixels } from '../files/readable-picture.js';
import { CompletionRate } from './completion-rate.js';
import type { DetectRequest, Detector } from './detector.js';
import { ImageQueue } from './image-queue.js';
import { PictureCost } from './picture-cost.js';
import { SyncAdmission } from './sync-admission.js';
import { Task } from './task.js';
import { chooseWorker, WorkerLoad } from './worker-choice.js';
import { withSameModel, type ModelDigests } from './worker-models.js';
import { describeWorkers, modelsOf, type WorkerReport } from './worker-stats.js';
import { WorkerLost, type Worker } from './worker.js';

const RATE_WINDOW_MS = 20_000;

export interface ExecutorOptions {
  /** A sentence for the answer while there is no worker. */
  whyNoWorker(): string;
  /** Describes models while no worker can, and opens images by the rules of detection. */
  files: Pick<Detector, 'models' | 'prepare' | 'readImage' | 'decodeImage'>;
  /** Digests of the service's own model files; left out where workers read the same ones. */
  modelDigests?(): ModelDigests;
  /** Synchronous images that may wait for a worker. */
  syncQueue: number;
}

export class Executor implements Detector {
  /** Counts of events of workers and their images since the start. */
  readonly events = {
    /** Workers that ended with images in hand, or without notice. */
    lost: 0,
    /** Images handed out again because their worker was lost. */
    requeued: 0,
    /** Answers to a hand-out that was over: refused. */
    stale: 0,
  };
  readonly #options: ExecutorOptions;
  readonly #queue = new ImageQueue();
  readonly #admission: SyncAdmission;
  readonly #rate = new CompletionRate(RATE_WINDOW_MS);
  readonly #cost = new PictureCost();
  /** Images that workers have. */
  readonly #inHand = { sync: 0, async: 0 };
  #loads: WorkerLoad[] = [];
  #kept: readonly ModelVersion[] = [];
  #failed = 0;
  /** Path of an image that a worker has read lately: a worker that joins must see it too. */
  knownImage: string | null = null;
  /** Whether a worker has ever joined. */
  hadWorkers = false;
  #closed: Promise<void> | null = null;
  /** Called for every image with `ok` and its result, or with the code of its error. */
  onImage: (outcome: ErrorCode | 'ok', result: ImageResult | null) => void = () => undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#admission = new SyncAdmission(options.syncQueue);
  }

  get #workers(): Worker[] {
    return this.#loads.map(({ worker }) => worker);
  }

  /** Id of the only worker; empty while several may run an image. */
  get workerId(): string {
    const [load, ...more] = this.#loads;
    return load === undefined || more.length > 0 ? '' : load.worker.workerId;
  }

  workers(): WorkerReport[] {
    return this.#loads.map(({ worker, inHand, completed }) => ({ worker, inHand, completed }));
  }

  /** The worker gets images from now on, and is closed with the executor. */
  join(worker: Worker): void {
    worker.keepModels(this.#kept);
    this.hadWorkers = true;
    this.#loads = [...this.#loads, new WorkerLoad(worker)];
    this.refresh();
  }

  /** The worker gets no more images. Call it before a lost worker rejects those in hand. */
  leave(worker: Worker): void {
    this.#loads = this.#loads.filter((load) => load.worker !== worker);
  }

  /** Hands out what waits. Call it when a worker has more slots than before, or became healthy. */
  refresh(): void {
    this.#handOutAll('sync');
    this.#handOutAll('async');
  }

  #handOutAll(kind: 'sync' | 'async'): void {
    const size = kind === 'sync' ? 'syncSize' : 'asyncSize';
    const kept: Task[] = [];
    while (this.#queue[size] > 0 && this.#handOutNext(kind, kept)) continue;
    for (const task of kept) this.#queue.add(task, true);
  }

  async detect(request: DetectRequest): Promise<ImageResult> {
    this.#refuseWhenOver(request);
    const isSync = request.kind === 'sync';
    // Nobody can say when one comes: the caller does better to ask again than to wait for its deadline.
    if (isSync && this.#loads.length === 0) throw this.#noWorker();
    const { tiles } = request.options;
    const images = this.#cost.of(tiles);
    if (isSync) this.#admission.enter(this.#syncParallel(), request.deadlineMs ?? Infinity, images);
    this.#rate.begin();
    let outcome: ErrorCode | 'ok' = 'ok';
    let result: ImageResult | null = null;
    try {
      result = await this.#run(request, images);
      return result;
    } catch (thrown) {
      outcome = toLatticeError(thrown).code;
      throw thrown;
    } finally {
      const seen = result === null ? images : this.#cost.ran(tiles, result.tiles);
      if (isSync) this.#admission.leave(outcome, images, seen);
      this.#rate.end(result === null ? 0 : 1);
      if (result === null) this.#failed += 1;
      this.onImage(outcome, result);
    }
  }

  #run(request: DetectRequest, images: number): Promise<ImageResult> {
    const task = new Task(request, images);
    const giveUp = (error: () => LatticeError) => () => {
      const answer = error();
      this.#queue.drop(task);
      task.reject(answer);
    };
    task.arm({ onAbort: giveUp(cancelled), onDeadline: giveUp(() => this.#late(task)) });
    this.#queue.add(task, false);
    this.refresh();
    return task.answer;
  }

  #refuseWhenOver({ signal }: DetectRequest): void {
    if (this.#closed !== null) throw shuttingDown();
    if (signal?.aborted === true) throw cancelled();
  }

  /** Synchronous images that the workers decode and compute at the same time. */
  #syncParallel(): number {
    return this.#workers.reduce((sum, { syncParallel }) => sum + syncParallel, 0);
  }

  /** False when no worker has a slot. An image whose own workers have none is added to `kept`. */
  #handOutNext(kind: 'sync' | 'async', kept: Task[]): boolean {
    const free = chooseWorker(kind, this.#loads);
    if (free === null) return false;
    const task = kind === 'sync' ? this.#queue.takeSync() : this.#queue.takeAsync();
    if (task === null) return false;
    const loads = this.#loadsFor(task.request.options.modelName);
    const isAnyFit = task.refusedBy === null && loads === this.#loads;
    const load = isAnyFit ? free : chooseWorker(kind, loads, task.refusedBy);
    if (load !== null) {
      if (load.canFinishIn(task.timeLeft)) void this.#handOut(task, load);
      else task.reject(this.#late(task));
      return true;
    }
    const refusal = task.refusalOfAll(this.#workersFor(task));
    if (refusal === null) kept.push(task);
    else task.reject(refusal);
    return true;
  }

  #workersFor({ request }: Task): Worker[] {
    return this.#loadsFor(request.options.modelName).map(({ worker }) => worker);
  }

  #loadsFor(modelName: string): readonly WorkerLoad[] {
    return withSameModel(this.#loads, modelName, this.modelDigests()[modelName]);
  }

  modelDigests(): ModelDigests {
    return this.#options.modelDigests?.() ?? {};
  }

  async #handOut(task: Task, load: WorkerLoad): Promise<void> {
    const kind = task.request.kind;
    const handedOutAt = performance.now();
    load[kind] += task.images;
    this.#inHand[kind] += 1;
    try {
      const result = await load.worker.detect(task.forWorker());
      load.completed += 1;
      if (task.request.image === undefined) this.knownImage = task.request.path;
      if (kind === 'sync') load.measured(performance.now() - handedOutAt, result);
      task.resolve(result, handedOutAt);
    } catch (thrown) {
      const error = await this.#faultOf(load.worker, task, thrown);
      if (!task.answered) this.#failedAt(load.worker, task, error);
    } finally {
      load[kind] -= task.images;
      this.#inHand[kind] -= 1;
      this.refresh();
    }
  }

  /** A worker's own error in place of the image's, where its node lacks an image that the service has. */
  async #faultOf(worker: Worker, { request }: Task, thrown: unknown): Promise<unknown> {
    const isOfNode = ERRORS[toLatticeError(thrown).code].ofNode === true;
    if (!isOfNode || request.image !== undefined) return thrown;
    return (await worker.refusalOf?.(request.path)) ?? thrown;
  }

  /** An image that a worker lost, or cannot run at present, may run on another worker. */
  #failedAt(worker: Worker, task: Task, thrown: unknown): void {
    const isLost = thrown instanceof WorkerLost;
    const end = isLost
      ? task.lostBy(worker)
      : task.failedAt(worker, toLatticeError(thrown), this.#workersFor(task));
    if (this.#closed !== null) task.reject(isLost ? shuttingDown() : (end ?? shuttingDown()));
    else if (end !== null) task.reject(end);
    else {
      if (isLost) this.events.requeued += 1;
      this.#queue.add(task, true);
    }
  }

  #late(task: Task): LatticeError {
    if (this.#loads.length === 0 && task.waiting) return this.#noWorker();
    const { deadlineMs } = task.request;
    return new LatticeError('deadline_exceeded', `No result within ${deadlineMs ?? 0} ms.`);
  }

  #noWorker(): LatticeError {
    return new LatticeError('cluster_unavailable', `No worker. ${this.#options.whyNoWorker()}`);
  }

  /** Loads the model on the worker that would answer next; the others load it when they need it. */
  async prepare(modelName: string): Promise<ModelDescription> {
    if (this.#closed !== null) throw shuttingDown();
    const loads = this.#loadsFor(modelName);
    const load = chooseWorker('sync', loads) ?? loads[0];
    try {
      if (load !== undefined) return await load.worker.prepare(modelName);
    } catch (thrown) {
      if (!(thrown instanceof WorkerLost)) throw thrown;
    }
    return this.#options.files.prepare(modelName);
  }

  async models(): Promise<ModelDescription[]> {
    return (await modelsOf(this.#workers)) ?? this.#options.files.models();
  }

  /** On each worker; a worker that fails or ends meanwhile does not keep the others from it. */
  async reloadModels(): Promise<void> {
    await Promise.allSettled(this.#workers.map((worker) => worker.reloadModels()));
  }

  keepModels(versions: readonly ModelVersion[]): void {
    this.#kept = versions;
    for (const worker of this.#workers) worker.keepModels(versions);
  }

  async readImage(path: string): Promise<Buffer> {
    if (this.#closed !== null) throw shuttingDown();
    return this.#options.files.readImage(path);
  }

  async decodeImage(bytes: Buffer): Promise<Pixels> {
    if (this.#closed !== null) throw shuttingDown();
    return this.#options.files.decodeImage(bytes);
  }

  stats(): DetectorStats {
    const { syncSize, asyncSize } = this.#queue;
    const workers = describeWorkers(this.#workers);
    return {
      ...workers,
      queuedSync: syncSize + workers.queuedSync,
      queuedAsync: asyncSize + workers.queuedAsync,
      inFlight: this.#rate.inHand,
      completed: this.#rate.completed,
      failed: this.#failed,
      waitingSync: syncSize,
      inHandSync: this.#inHand.sync,
      inHandAsync: this.#inHand.async,
      imagesPerSecond: rounded(this.#rate.perSecond(), 3),
    };
  }

  unhealthy(): LatticeError | null {
    if (this.#loads.length === 0) return this.#noWorker();
    const faults = this.#workers.map((worker) => worker.unhealthy());
    return faults.includes(null) ? null : (faults[0] ?? null);
  }

  /** Refuses what waits, closes the workers. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const next = () => this.#queue.takeSync() ?? this.#queue.takeAsync();
    for (let task = next(); task !== null; task = next()) task.reject(shuttingDown());
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }
}

const cancelled = () => new LatticeError('cancelled', 'Cancelled.');
const shuttingDown = () => new LatticeError('shutting_down', 'The detector is stopping.');
