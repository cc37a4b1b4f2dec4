/** One request in the executor, from its arrival to its one answer. */
import { setMaxListeners } from 'node:events';
import { ERRORS, LatticeError } from '../api/errors.js';
import type { ImageResult } from '../api/schemas/image.js';
import { toMicros } from '../base/rounded.js';
import type { DetectRequest } from './detector.js';
import type { Worker } from './worker.js';

/** Lost workers that an image survives. */
const LOSSES = { sync: 1, async: 2 } as const;

export class Task {
  readonly request: DetectRequest;
  /** The number of images that the task counts for at a worker: a picture and its tiles. */
  readonly images: number;
  readonly arrivedAt = performance.now();
  readonly answer: Promise<ImageResult>;
  /** True in the queue; false at a worker and once answered. */
  waiting = false;
  answered = false;
  /** How often a worker was lost while it had the image in hand. */
  #losses = 0;
  /** Workers that cannot run it at present, and the reason of the last one. */
  #refusals: { workers: Set<Worker>; last: LatticeError } | null = null;
  #resolve: (result: ImageResult) => void = () => undefined;
  #reject: (error: LatticeError) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #onAbort: (() => void) | undefined;
  /** Aborted when the caller is answered without the worker's result. */
  readonly #abandoned = new AbortController();

  constructor(request: DetectRequest, images: number) {
    this.request = request;
    this.images = images;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Milliseconds until the deadline, at least 0; null without one. */
  get timeLeft(): number | null {
    const { deadlineMs } = this.request;
    if (deadlineMs === undefined || deadlineMs <= 0) return null;
    return Math.max(0, this.arrivedAt + deadlineMs - performance.now());
  }

  /** Each of them is called at most once, and not after the answer. */
  arm({ onAbort, onDeadline }: { onAbort: () => void; onDeadline: () => void }): void {
    const { signal } = this.request;
    if (signal !== undefined) {
      // One signal serves all images of a job: many listeners are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#onAbort = onAbort;
    }
    const { timeLeft } = this;
    if (timeLeft !== null) this.#timer = setTimeout(onDeadline, timeLeft);
  }

  /** Workers that cannot run it at present; null: none is known. */
  get refusedBy(): ReadonlySet<Worker> | null {
    return this.#refusals?.workers ?? null;
  }

  /** The last reason when each of `workers` cannot run it at present or is leaving; else null. */
  refusalOfAll(workers: readonly Worker[]): LatticeError | null {
    if (this.#refusals === null) return null;
    const { workers: refused, last } = this.#refusals;
    return workers.some((worker) => !worker.leaving && !refused.has(worker)) ? null : last;
  }

  /**
   * A worker answered with an error. Returns the error that ends the task; null when another of `workers` may run it.
   */
  failedAt(worker: Worker, error: LatticeError, workers: readonly Worker[]): LatticeError | null {
    if (ERRORS[error.code].of !== 'worker') return error;
    this.#refusals ??= { workers: new Set(), last: error };
    this.#refusals.workers.add(worker);
    this.#refusals.last = error;
    return this.refusalOfAll(workers);
  }

  /** The worker was lost with the image in hand. Returns the error that ends the task; null when it may run again. */
  lostBy({ workerId, nodeId }: Worker): LatticeError | null {
    this.#losses += 1;
    if (this.#losses <= LOSSES[this.request.kind]) return null;
    return new LatticeError(
      'worker_lost',
      `${this.#losses} workers were lost with this image in hand, ${workerId} on node ${nodeId} last.`,
    );
  }

  /**
   * Answers the task. The times of the answer include the wait before `handedOutAt`; the worker's own processing time
   * is told only by `lattice detect`, which has no executor. Like `reject`, it does nothing once the task was answered.
   */
  resolve(result: ImageResult, handedOutAt: number): void {
    if (!this.#end()) return;
    const queue = toMicros(result.timingsMs.queue + handedOutAt - this.arrivedAt);
    const processingTimeMs = toMicros(performance.now() - this.arrivedAt);
    this.#resolve({ ...result, timingsMs: { ...result.timingsMs, queue }, processingTimeMs });
  }

  reject(error: LatticeError): void {
    if (!this.#end()) return;
    this.#reject(error);
    this.#abandoned.abort();
  }

  /** The request for a worker, with the time that is left and a signal that tells it to drop the image. */
  forWorker(): DetectRequest {
    const { timeLeft } = this;
    const request: DetectRequest = { ...this.request, signal: this.#abandoned.signal };
    if (timeLeft !== null) request.deadlineMs = Math.max(1, timeLeft);
    return request;
  }

  #end(): boolean {
    if (this.answered) return false;
    this.answered = true;
    clearTimeout(this.#timer);
    if (this.#onAbort) this.request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
