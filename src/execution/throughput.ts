/** Images a second over the last minute of work: time with nothing in hand does not count. */
const WINDOW_S = 60;

export class Throughput {
  readonly #now: () => number;
  /** Completions by second of the busy clock, a ring. */
  readonly #counts = new Uint32Array(WINDOW_S);
  #inHand = 0;
  #busyMs = 0;
  #busySince = 0;
  #second = 0;
  #completed = 0;

  /** `now` gives milliseconds of a steady clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get inHand(): number {
    return this.#inHand;
  }

  begin(): void {
    if (this.#inHand === 0) this.#busySince = this.#now();
    this.#inHand += 1;
  }

  /** One image left; `counted` when it gave a result. */
  end(counted: boolean): void {
    this.#advance();
    this.#inHand -= 1;
    if (!counted) return;
    const slot = this.#second % WINDOW_S;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
    this.#completed += 1;
  }

  perSecond(): number {
    this.#advance();
    if (this.#completed === 0) return 0;
    const images = this.#counts.reduce((sum, count) => sum + count, 0);
    // The present second is only partly over; a burst shorter than 50 ms is no measurement.
    const seconds = Math.min(this.#busyMs / 1000, WINDOW_S - 1 + ((this.#busyMs / 1000) % 1));
    return images / Math.max(seconds, 0.05);
  }

  #advance(): void {
    if (this.#inHand > 0) {
      const now = this.#now();
      this.#busyMs += now - this.#busySince;
      this.#busySince = now;
    }
    const second = Math.floor(this.#busyMs / 1000);
    if (second - this.#second >= WINDOW_S) this.#counts.fill(0);
    else {
      for (let next = this.#second + 1; next <= second; next++) this.#counts[next % WINDOW_S] = 0;
    }
    this.#second = second;
  }
}
