/** Growing waits with jitter, so that callers that failed at the same time do not retry at the same time. */
export class BackOff {
  readonly #leastMs: number;
  readonly #mostMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(leastMs: number, mostMs: number, random: () => number = Math.random) {
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
    this.#random = random;
  }

  /** Milliseconds to wait before the next try: from `leastMs` to `leastMs` doubled per failure, at most `mostMs`. */
  next(): number {
    const ceiling = Math.min(this.#mostMs, this.#leastMs * 2 ** Math.min(30, ++this.#failures));
    return this.#leastMs + this.#random() * (ceiling - this.#leastMs);
  }

  /** Call after a success: the next wait is a short one again. */
  reset(): void {
    this.#failures = 0;
  }
}
