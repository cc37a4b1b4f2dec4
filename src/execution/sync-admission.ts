/** Admits the synchronous requests that the present rate can finish in time; refuses the others at once. */
import { LatticeError } from '../errors.js';
import { CompletionRate } from './completion-rate.js';

/** A request that would wait longer is refused although its deadline is later: clients retry sooner than that. */
const LONGEST_WAIT_MS = 2_000;
const LONGEST_RETRY_S = 60;

export class SyncAdmission {
  readonly #queueLimit: number;
  readonly #rate = new CompletionRate();
  #inHand = 0;

  /** `queueLimit`: synchronous images that may wait, besides those that workers have in hand. */
  constructor(queueLimit: number) {
    this.#queueLimit = queueLimit;
  }

  /**
   * `slots`: synchronous images that the workers run at the same time; so many are admitted as long as they can meet
   * the deadline. Throws `overloaded` with the time in which the present queue will have drained. Every `enter` that
   * returns needs one `leave`.
   */
  enter(slots: number, deadlineMs: number): void {
    const rate = this.#rate.perSecond();
    const waitMs = rate === null ? 0 : ((this.#inHand + 1) / rate) * 1_000;
    const mostMs = this.#inHand < slots ? deadlineMs : Math.min(deadlineMs, LONGEST_WAIT_MS);
    const late = this.#inHand > 0 && waitMs > mostMs;
    if (late || this.#inHand >= this.#queueLimit + slots) throw this.#overloaded(rate);
    this.#inHand += 1;
    this.#rate.begin();
  }

  /** `completed`: a worker answered it, with a result or with an error of the image. */
  leave(completed: boolean): void {
    this.#inHand -= 1;
    this.#rate.end(completed);
  }

  #overloaded(rate: number | null): LatticeError {
    const drainS = rate === null ? 1 : Math.ceil(this.#inHand / rate);
    return new LatticeError('overloaded', `${this.#inHand} synchronous requests are in hand.`, {
      retryAfterS: Math.min(Math.max(drainS, 1), LONGEST_RETRY_S),
    });
  }
}
