/** Admits the synchronous requests that the present rate can finish in time; refuses the others at once. */
import { ERRORS, LatticeError, type ErrorCode } from '../api/errors.js';
import { CompletionRate } from './completion-rate.js';

/** A request that would wait longer is refused although its deadline is later: clients retry sooner than that. */
const LONGEST_WAIT_MS = 1_750;
const LONGEST_RETRY_S = 60;
const RATE_WINDOW_MS = 2_000;
/** The first images may have waited for their model. */
const LEAST_IMAGES = 4;

export class SyncAdmission {
  readonly #queueLimit: number;
  readonly #rate = new CompletionRate(RATE_WINDOW_MS);

  /** `queueLimit`: synchronous images that may wait, besides those that workers have in hand. */
  constructor(queueLimit: number) {
    this.#queueLimit = queueLimit;
  }

  /**
   * `images`: that the network will see of the request's picture. `parallel`: synchronous images that the workers run
   * at the same time; so many are admitted as long as they can meet the deadline. Throws `overloaded` with the time in
   * which the present queue will have drained. Every `enter` that returns needs one `leave`.
   */
  enter(parallel: number, deadlineMs: number, images = 1): void {
    const { inHand, completed } = this.#rate;
    const rate = completed < LEAST_IMAGES ? null : this.#rate.perSecond();
    const msFor = (count: number) => (rate === null ? 0 : (count / rate) * 1_000);
    const waitMs = msFor(inHand + images);
    const longestMs = LONGEST_WAIT_MS + msFor(images - 1);
    const mostMs = inHand < parallel ? deadlineMs : Math.min(deadlineMs, longestMs);
    const late = inHand > 0 && waitMs > mostMs;
    if (late) throw overloaded(lateBy(waitMs, mostMs), inHand, rate);
    if (inHand >= this.#queueLimit + parallel) {
      throw overloaded(`${inHand} synchronous requests are queued, the limit.`, inHand, rate);
    }
    this.#rate.begin(images);
  }

  /** `outcome` of the picture that `enter` admitted as `images`; the network saw `seen` of it. */
  leave(outcome: ErrorCode | 'ok', images = 1, seen = images): void {
    const isOver = outcome === 'ok' || ERRORS[outcome].unfinished !== true;
    this.#rate.end(isOver ? seen : 0, images);
  }
}

function lateBy(waitMs: number, mostMs: number): string {
  return `The answer would take about ${Math.ceil(waitMs)} ms; the request may wait ${Math.floor(mostMs)} ms.`;
}

function overloaded(detail: string, inHand: number, rate: number | null): LatticeError {
  const drainS = rate === null ? 1 : Math.ceil(inHand / rate);
  return new LatticeError('overloaded', detail, {
    retryAfterS: Math.min(Math.max(drainS, 1), LONGEST_RETRY_S),
  });
}
