/** One request in the executor, from its arrival to its one answer. */
import { setMaxListeners } from 'node:events';
import { LatticeError } from '../errors.js';
import type { ImageResult } from '../contract/image-result.js';
import type { DetectRequest } from './detector.js';
import type { Worker } from './worker.js';

export class Task {
  readonly request: DetectRequest;
  readonly arrivedAt = performance.now();
  readonly answer: Promise<ImageResult>;
  /** How often a worker was lost while it had the image in hand. */
  losses = 0;
  /** Workers that cannot run it at present, and the reason of the last one. */
  refusals: { workers: Set<Worker>; last: LatticeError } | null = null;
  /** True in the queue; false at a worker and once answered. */
  waiting = false;
  #answered = false;
  #resolve: (result: ImageResult) => void = () => undefined;
  #reject: (error: LatticeError) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: DetectRequest) {
    this.request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get answered(): boolean {
    return this.#answered;
  }

  /** Milliseconds until the deadline, at least 0; null without one. */
  get timeLeft(): number | null {
    const { deadlineMs } = this.request;
    if (deadlineMs === undefined || deadlineMs <= 0) return null;
    return Math.max(0, this.arrivedAt + deadlineMs - performance.now());
  }

  /** Each of them is called at most once, and not after the answer. */
  watch({ onAbort, onDeadline }: { onAbort: () => void; onDeadline: () => void }): void {
    const { signal } = this.request;
    if (signal !== undefined) {
      // One signal serves all images of a job: many listeners are no leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
      const stop = () => {
        signal.removeEventListener('abort', onAbort);
      };
      this.answer.then(stop, stop);
    }
    const { timeLeft } = this;
    if (timeLeft !== null) this.#timer = setTimeout(onDeadline, timeLeft);
  }

  refuse(worker: Worker, error: LatticeError): void {
    this.refusals ??= { workers: new Set(), last: error };
    this.refusals.workers.add(worker);
    this.refusals.last = error;
  }

  /** False when it was answered before. */
  resolve(result: ImageResult): boolean {
    if (!this.#end()) return false;
    this.#resolve(result);
    return true;
  }

  /** False when it was answered before. */
  reject(error: LatticeError): boolean {
    if (!this.#end()) return false;
    this.#reject(error);
    return true;
  }

  /** What a worker is given: the time that is left, and the same signal. */
  forWorker(): DetectRequest {
    const { timeLeft } = this;
    if (timeLeft === null) return this.request;
    return { ...this.request, deadlineMs: Math.max(1, timeLeft) };
  }

  #end(): boolean {
    if (this.#answered) return false;
    this.#answered = true;
    clearTimeout(this.#timer);
    return true;
  }
}
