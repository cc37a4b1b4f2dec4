/** When a call has to be over, as a signal; the caller's own signal ends it too. */

/** Timers take no more: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

export class Deadline {
  readonly ms: number;
  /** True once the time is over; false when the caller gave up before. */
  passed = false;
  readonly #controller = new AbortController();
  readonly #end: number;
  readonly #timer: NodeJS.Timeout;
  readonly #given: AbortSignal | undefined;
  readonly #follow = () => {
    this.#controller.abort(this.#given?.reason);
  };

  constructor(ms: number, signal: AbortSignal | undefined) {
    this.ms = Math.min(ms, LONGEST_MS);
    this.#end = performance.now() + this.ms;
    this.#given = signal;
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#controller.abort();
    }, this.ms);
    if (signal?.aborted === true) this.#follow();
    signal?.addEventListener('abort', this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get leftMs(): number {
    return this.#end - performance.now();
  }

  /** Call it when the work is done, whatever came of it. */
  close(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#follow);
  }
}
