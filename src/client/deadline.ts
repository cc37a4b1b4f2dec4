/** Time limits and pauses, for browsers and Node alike. */

/** The longest time of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** The time limit of a call as a signal, which the caller's own signal ends too. */
export class Deadline {
  readonly ms: number;
  /** The caller's own signal. */
  readonly caller: AbortSignal | undefined;
  readonly signal: AbortSignal;
  readonly #end: number;
  readonly #expiry: AbortSignal;

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.caller = caller;
    this.ms = Math.min(Math.max(ms, 0), LONGEST_MS);
    this.#end = performance.now() + this.ms;
    this.#expiry = AbortSignal.timeout(Math.ceil(this.ms));
    this.signal = AbortSignal.any([this.#expiry, ...(caller === undefined ? [] : [caller])]);
  }

  /** True once the time is over; false when the caller gave up before. */
  get passed(): boolean {
    return this.signal.aborted && this.signal.reason === this.#expiry.reason;
  }

  get leftMs(): number {
    return this.#end - performance.now();
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
