/** Growing waits with jitter, so that many services do not come back to a cluster at the same moment. */
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

  /** Milliseconds to wait before the next try: between the least and twice as much a failure, `mostMs` at most. */
  next(mostMs = this.#mostMs): number {
    const ceiling = Math.min(mostMs, this.#leastMs * 2 ** Math.min(30, ++this.#failures));
    return this.#leastMs + this.#random() * (ceiling - this.#leastMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}
