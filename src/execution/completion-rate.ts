/** Images per second that the workers finish at present: a mean over busy time in which recent images weigh most. */

/** Busy milliseconds after which an image weighs a third. */
const WINDOW_MS = 2_000;
/** Too few images say nothing: the first one may have waited for its model. */
const LEAST_IMAGES = 4;

export class CompletionRate {
  readonly #now: () => number;
  #inHand = 0;
  /** Start of the busy time that is not in `#busyMs` yet. */
  #since = 0;
  #images = 0;
  #busyMs = 0;
  #seen = 0;

  /** `now` gives milliseconds of a steady clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(): void {
    if (this.#inHand === 0) this.#since = this.#now();
    this.#inHand += 1;
  }

  /** `completed`: a worker answered it. */
  end(completed: boolean): void {
    this.#advance();
    this.#inHand -= 1;
    if (!completed) return;
    this.#images += 1;
    this.#seen += 1;
  }

  /** Null while it is not known. */
  perSecond(): number | null {
    this.#advance();
    return this.#seen < LEAST_IMAGES ? null : (this.#images / Math.max(this.#busyMs, 1)) * 1_000;
  }

  #advance(): void {
    if (this.#inHand === 0) return;
    const now = this.#now();
    const elapsed = now - this.#since;
    this.#since = now;
    const weight = Math.exp(-elapsed / WINDOW_MS);
    this.#images *= weight;
    this.#busyMs = this.#busyMs * weight + elapsed;
  }
}
