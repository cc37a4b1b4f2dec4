/** Chooses the worker that runs the next image, by the images that each has in hand and how long its images took. */
import type { ImageResult } from '../api/schemas/image.js';
import { imagesOfGrid } from '../api/tiles.js';
import type { Worker } from './worker.js';

/** Weight of the newest duration in the mean. */
const NEWEST = 0.2;

/** A worker and what the executor gave it. */
export class WorkerLoad {
  readonly worker: Worker;
  sync = 0;
  async = 0;
  completed = 0;
  /** Means over its synchronous images in milliseconds, 0 before the first: of all its time, and without waiting. */
  #syncMs = 0;
  #workMs = 0;

  constructor(worker: Worker) {
    this.worker = worker;
  }

  get inHand(): number {
    return this.sync + this.async;
  }

  hasSlot(kind: 'sync' | 'async'): boolean {
    const { slots, loading } = this.worker;
    return this[kind] - (loading?.[kind] ?? 0) < slots[kind];
  }

  /** A synchronous picture took so long from handing it out to its result. */
  measured(ms: number, { timingsMs, tiles }: ImageResult): void {
    const images = imagesOfGrid(tiles);
    const { model_load: loadMs = 0, decode, preprocess, inference, postprocess } = timingsMs;
    const workMs = (decode + preprocess + inference + postprocess) / images;
    const ownMs = (ms - loadMs) / images; // the next image finds the model loaded
    this.#syncMs = this.#syncMs === 0 ? ownMs : this.#syncMs + NEWEST * (ownMs - this.#syncMs);
    this.#workMs = this.#workMs === 0 ? workMs : this.#workMs + NEWEST * (workMs - this.#workMs);
  }

  /** When a synchronous image handed out now would be answered, in milliseconds; a batch of jobs delays it by half. */
  syncFinishMs(): number {
    return this.#syncMs * (1 + this.sync + (this.async > 0 ? 0.5 : 0));
  }

  /** The worker of the lowest gets the next image. */
  cost(kind: 'sync' | 'async'): number {
    return kind === 'sync'
      ? this.syncFinishMs() + this.inHand * 1e-6
      : this.async / this.worker.slots.async;
  }

  /** False when the work alone takes longer than what is left. An idle worker tries: the mean may be out of date. */
  canFinishIn(timeLeft: number | null): boolean {
    return timeLeft === null || this.sync === 0 || this.#workMs <= timeLeft;
  }
}

/** Workers that are not to be chosen. */
export type Refused = ReadonlySet<Worker> | null;

/**
 * Sync: the worker with the earliest predicted answer. Async: the largest free share of slots. Null: all are full.
 * Takes one of the healthy workers, or of all if none is healthy: a worker that detects nothing answers quickly and
 * would take all the work for which the others have no slot.
 */
export function chooseWorker(
  kind: 'sync' | 'async',
  loads: readonly WorkerLoad[],
  refused: Refused = null,
): WorkerLoad | null {
  let best: WorkerLoad | null = null;
  let bestCost = Infinity;
  let isAnyWell = false;
  // A single pass without copies, because it runs for each image, over all workers.
  for (const load of loads) {
    const { worker } = load;
    if (worker.leaving || refused?.has(worker) === true) continue;
    // A single worker gets the work in any state; reading its state would cost more than the choice.
    const isWell = loads.length < 2 || worker.unhealthy() === null;
    if (isWell && !isAnyWell) [best, bestCost, isAnyWell] = [null, Infinity, true];
    if (isWell !== isAnyWell || !load.hasSlot(kind)) continue;
    const cost = load.cost(kind);
    if (cost < bestCost) [best, bestCost] = [load, cost];
  }
  return best;
}
