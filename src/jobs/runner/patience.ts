/** Store calls of the runner: a store that cannot be written is asked again until it can, or until the stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logger-port.js';

export class Patience {
  readonly #logger: Logger;
  readonly #retryMs: number;
  readonly #over = new AbortController();
  #failing = 0;

  constructor(logger: Logger, retryMs: number) {
    this.#logger = logger;
    this.#retryMs = retryMs;
  }

  /** A call is being repeated: nothing new should be started. */
  get failing(): boolean {
    return this.#failing > 0;
  }

  /** From here on a call is made once. */
  end(): void {
    this.#over.abort();
  }

  /** Null: it did not succeed before the end. Never rejects. */
  async insist<T>(what: string, call: () => Promise<T>): Promise<{ value: T } | null> {
    let failed = false;
    try {
      for (;;) {
        try {
          return { value: await call() };
        } catch (error) {
          if (this.#over.signal.aborted) return null;
          if (!failed) {
            failed = true;
            this.#failing += 1;
            const cause = error instanceof Error ? error.cause : null;
            this.#logger.error(
              { what, error: String(error), cause },
              'job store call failed; it is repeated',
            );
          }
          await sleep(this.#retryMs, undefined, { signal: this.#over.signal }).catch(() => null);
        }
      }
    } finally {
      if (failed) this.#failing -= 1;
    }
  }
}
