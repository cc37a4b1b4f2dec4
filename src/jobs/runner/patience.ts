/** Store calls of the runner. While the disk accepts no writes, they are repeated until it does or until the stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../base/back-off.js';
import { toLatticeError } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';

/** The longest pause, as a multiple of the first one. */
const LONGEST = 5;

export class Patience {
  readonly #logger: Logger;
  readonly #retryMs: number;
  readonly #over = new AbortController();
  #failing = 0;

  /** `retryMs`: before the first repeat of a call. */
  constructor(logger: Logger, retryMs: number) {
    this.#logger = logger;
    this.#retryMs = retryMs;
  }

  /** A call is being repeated: nothing new should be started. */
  get failing(): boolean {
    return this.#failing > 0;
  }

  /** Ends all retries: from now on a call is made once. */
  end(): void {
    this.#over.abort();
  }

  /**
   * Null: the disk did not accept the write before the end. Rejects with any other failure at once: a repeat does
   * not correct a defect of the program.
   */
  async untilDone<T>(what: string, call: () => Promise<T>): Promise<{ value: T } | null> {
    const backOff = new BackOff(this.#retryMs, LONGEST * this.#retryMs);
    let failed = false;
    try {
      for (;;) {
        try {
          return { value: await call() };
        } catch (thrown) {
          const error = toLatticeError(thrown);
          if (error.code !== 'storage_unavailable') throw error;
          if (this.#over.signal.aborted) return null;
          if (!failed) {
            failed = true;
            this.#failing += 1;
            const facts = { what, error: String(error), cause: error.cause };
            this.#logger.error(facts, 'job store call failed; it is repeated');
          }
          const { signal } = this.#over;
          await sleep(backOff.next(), undefined, { signal }).catch(() => null);
        }
      }
    } finally {
      if (failed) this.#failing -= 1;
    }
  }
}
