/** A worker that answers after a settable time, and can be lost at will. */
import type { LatticeError } from '../../src/api/errors.js';
import { Executor } from '../../src/execution/executor.js';
import { WorkerLost, type Worker, type WorkerSlots } from '../../src/execution/worker.js';
import type { WorkerStats } from '../../src/api/schemas/statistics.js';
import type { Detection, ImageResult } from '../../src/api/schemas/image.js';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import type { DetectRequest } from '../../src/execution/detector.js';

export interface SimulatedWorkerOptions {
  slots?: WorkerSlots;
  /** Milliseconds an image takes; 0 answers in the same turn of the event loop, null when told. */
  serviceMs?: number | null;
  nodeId?: string;
  /** Keeps the paths it saw; false for very many. */
  keeps?: boolean;
  /** The time of the network that results name. */
  workMs?: number;
  /** Boxes in each image. */
  boxes?: number;
}

interface InHand {
  request: DetectRequest;
  resolve(result: ImageResult): void;
  reject(error: Error): void;
}

export class SimulatedWorker implements Worker {
  readonly workerId: string;
  readonly nodeId: string;
  readonly slots: WorkerSlots;
  readonly syncParallel = 1;
  leaving = false;
  modelDigests?: Readonly<Record<string, string>>;
  fault: LatticeError | null = null;
  closed = false;
  offers: ModelDescription[] | null = null;
  /** Paths in the order in which they arrived. */
  readonly seen: string[] = [];
  mostInHand = 0;
  serviceMs: number | null;
  readonly #keeps: boolean;
  readonly #workMs: number;
  readonly #detections: Detection[];
  readonly #inHand = new Map<number, InHand>();
  #last = 0;

  constructor(workerId: string, options: SimulatedWorkerOptions = {}) {
    this.workerId = workerId;
    this.nodeId = options.nodeId ?? `node-of-${workerId}`;
    this.slots = options.slots ?? { sync: 2, async: 2 };
    this.serviceMs = options.serviceMs ?? null;
    this.#keeps = options.keeps ?? true;
    this.#workMs = options.workMs ?? 0;
    this.#detections = Array.from({ length: options.boxes ?? 0 }, (_, index) => ({
      box: [10.5 + index, 20.25, 30.125 + index, 40.75],
      confidence: 0.9 - index / 1_000,
      class: index % 2 === 0 ? 'car' : 'bus',
    }));
  }

  get inHand(): string[] {
    return [...this.#inHand.values()].map(({ request }) => request.path);
  }

  detect(request: DetectRequest): Promise<ImageResult> {
    if (this.#keeps) this.seen.push(request.path);
    if (this.serviceMs === 0) return Promise.resolve(this.#result(request));
    const number = (this.#last += 1);
    return new Promise((resolve, reject) => {
      this.#inHand.set(number, { request, resolve, reject });
      this.mostInHand = Math.max(this.mostInHand, this.#inHand.size);
      if (this.serviceMs === null) return;
      setTimeout(() => {
        this.#finish(number);
      }, this.serviceMs);
    });
  }

  /** Answers the oldest images in hand. */
  answer(count = 1): void {
    for (const number of [...this.#inHand.keys()].slice(0, count)) this.#finish(number);
  }

  fail(error: Error): void {
    const [number] = this.#inHand.keys();
    if (number === undefined) return;
    this.#take(number)?.reject(error);
  }

  /** As a broken connection: the caller takes it out of the executor first. */
  lose(): void {
    this.leaving = true;
    for (const number of [...this.#inHand.keys()])
      this.#take(number)?.reject(new WorkerLost('lost'));
  }

  prepare(modelName: string): Promise<ModelDescription> {
    return Promise.reject(new WorkerLost(`no worker prepares ${modelName}`));
  }

  reloadModels(): Promise<void> {
    return Promise.resolve();
  }

  keepModels(): void {
    // It has no models.
  }

  models(): Promise<ModelDescription[]> {
    return this.offers === null
      ? Promise.reject(new WorkerLost('silent'))
      : Promise.resolve(this.offers);
  }

  stats(): WorkerStats {
    return {
      device: 'simulated',
      gpus: 1,
      precision: 'fp16',
      reason: 'simulated: asked for; fp16: asked for',
      queuedSync: 0,
      queuedAsync: 0,
      heldBytes: 0,
      hangingFolders: 0,
      modelSwaps: 0,
      refusedModelFiles: 0,
      suggestedWindow: Number.isFinite(this.slots.async) ? this.slots.async : 8,
    };
  }

  unhealthy(): LatticeError | null {
    return this.fault;
  }

  close(): Promise<void> {
    this.closed = true;
    this.lose();
    return Promise.resolve();
  }

  #finish(number: number): void {
    const task = this.#take(number);
    if (task !== undefined) task.resolve(this.#result(task.request));
  }

  #take(number: number): InHand | undefined {
    const task = this.#inHand.get(number);
    this.#inHand.delete(number);
    return task;
  }

  #result({ options }: DetectRequest): ImageResult {
    return {
      detections: this.#detections,
      image: { width: 1, height: 1 },
      timingsMs: { queue: 0, decode: 0, preprocess: 0, inference: this.#workMs, postprocess: 0 },
      processingTimeMs: 0,
      model: options.modelName,
      workerId: this.workerId,
      truncated: false,
    };
  }
}

/** An executor over these workers that knows no models and reads no files. */
export function overWorkers(workers: readonly Worker[]): Executor {
  const executor = new Executor({
    whyNoWorker: () => 'None.',
    files: {
      models: () => Promise.resolve([]),
      prepare: (name) => Promise.reject(new Error(name)),
      readImage: (path) => Promise.reject(new Error(path)),
      decodeImage: () => Promise.reject(new Error('no decoder')),
    },
    syncQueue: 1_000_000,
  });
  for (const worker of workers) executor.join(worker);
  return executor;
}
