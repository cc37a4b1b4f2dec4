/** If nothing completes for this long, the clock stops: images that wait for a hanging volume do not lower the rate. */
const STALL_MS = 1_000;

/**
 * Images per second of busy time: a mean in which recent images weigh most. Time with nothing in hand does not count.
 */
export class CompletionRate {
  readonly #windowMs: number;
  readonly #now: () => number;
  #inHand = 0;
  #completed = 0;
  /** Start of the busy time that is not in `#busyMs` yet. */
  #since = 0;
  /** The last completion, or the start of the busy time. */
  #lastCompletion = 0;
  /** Weighted. */
  #images = 0;
  #busyMs = 0;

  /** After `windowMs` of busy time an image weighs a third. `now` gives milliseconds of a steady clock. */
  constructor(windowMs: number, now: () => number = () => performance.now()) {
    this.#windowMs = windowMs;
    this.#now = now;
  }

  get inHand(): number {
    return this.#inHand;
  }

  get completed(): number {
    return this.#completed;
  }

  begin(images = 1): void {
    if (this.#inHand === 0) this.#since = this.#lastCompletion = this.#now();
    this.#inHand += images;
  }

  /**
   * Called when `begun` images that `begin` had counted have ended; `completed` of them, which may be more, were run.
   */
  end(completed: number, begun = 1): void {
    this.#advance();
    this.#inHand -= begun;
    if (completed === 0) return;
    this.#lastCompletion = this.#since;
    this.#images += completed;
    this.#completed += completed;
  }

  /** 0 before the first image. */
  perSecond(): number {
    this.#advance();
    return (this.#images / Math.max(this.#busyMs, 1)) * 1_000;
  }

  #advance(): void {
    if (this.#inHand === 0) return;
    const now = this.#now();
    const elapsed = Math.max(0, Math.min(now, this.#lastCompletion + STALL_MS) - this.#since);
    this.#since = now;
    const weight = Math.exp(-elapsed / this.#windowMs);
    this.#images *= weight;
    this.#busyMs = this.#busyMs * weight + elapsed;
  }
}
