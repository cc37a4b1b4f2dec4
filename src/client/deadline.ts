/** The time limit of a call as a signal, which the caller's own signal ends too. */

/** The longest time of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export class Deadline {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly #end: number;
  readonly #expiry: AbortSignal;

  constructor(ms: number, signal: AbortSignal | undefined) {
    this.ms = Math.min(Math.max(ms, 0), LONGEST_MS);
    this.#end = performance.now() + this.ms;
    this.#expiry = AbortSignal.timeout(Math.ceil(this.ms));
    this.signal = AbortSignal.any([this.#expiry, ...(signal === undefined ? [] : [signal])]);
  }

  /** True once the time is over; false when the caller gave up before. */
  get passed(): boolean {
    return this.signal.aborted && this.signal.reason === this.#expiry.reason;
  }

  get leftMs(): number {
    return this.#end - performance.now();
  }
}
