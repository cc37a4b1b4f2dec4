/** One request on its way through the dispatcher, from its arrival to the one answer it gets. */
import { LatticeError } from '../errors.js';
import type { ImageResult } from '../contract/image-result.js';
import type { DetectRequest } from './detector.js';
import type { Lane } from './lane.js';

export class Task {
  readonly request: DetectRequest;
  readonly arrivedAt = performance.now();
  /** How often a lane was lost with it. */
  losses = 0;
  /** Lanes that are not in a state to run it, and why the last one is not. */
  refusals: { lanes: Set<Lane>; last: LatticeError } | null = null;
  /** In the queue; false in a lane and once answered. */
  waiting = false;
  readonly #resolve: (result: ImageResult) => void;
  readonly #reject: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  #onAbort: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #answered = false;

  constructor(
    request: DetectRequest,
    resolve: (result: ImageResult) => void,
    reject: (error: Error) => void,
  ) {
    this.request = request;
    this.#signal = request.signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get answered(): boolean {
    return this.#answered;
  }

  /** Milliseconds until its deadline, at least 0; null without one. */
  get timeLeft(): number | null {
    const { deadlineMs } = this.request;
    if (deadlineMs === undefined || deadlineMs <= 0) return null;
    return Math.max(0, this.arrivedAt + deadlineMs - performance.now());
  }

  /** `onAbort` and `onDeadline` are called at most once each, and not after the answer. */
  watch(onAbort: () => void, onDeadline: () => void): void {
    if (this.#signal !== undefined) {
      this.#onAbort = onAbort;
      this.#signal.addEventListener('abort', onAbort, { once: true });
    }
    const timeLeft = this.timeLeft;
    if (timeLeft !== null) this.onTimeout(timeLeft, onDeadline);
  }

  /** Replaces an earlier time-out. */
  onTimeout(ms: number, onTimeout: () => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#answered ? null : setTimeout(onTimeout, ms);
  }

  refuse(lane: Lane, error: LatticeError): void {
    this.refusals ??= { lanes: new Set(), last: error };
    this.refusals.lanes.add(lane);
    this.refusals.last = error;
  }

  resolve(result: ImageResult): void {
    if (this.#answer()) this.#resolve(result);
  }

  reject(error: Error): void {
    if (this.#answer()) this.#reject(error);
  }

  /** What the lane is given: what is left of the deadline, and the same signal. */
  forLane(): DetectRequest {
    const timeLeft = this.timeLeft;
    return timeLeft === null
      ? this.request
      : { ...this.request, deadlineMs: Math.max(1, timeLeft) };
  }

  #answer(): boolean {
    if (this.#answered) return false;
    this.#answered = true;
    this.waiting = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#onAbort !== null) this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

export function cancelled(): LatticeError {
  return new LatticeError('cancelled', 'Cancelled.');
}
