/** Removes jobs, events and keys that are past their time, batch by batch, once a while. */
import type { JobStore } from './store/job-store.js';
import type { Logger } from '../logger-port.js';

export interface RetentionOptions {
  resultTtlHours: number;
  /** How long events and idempotency keys are kept. */
  historyHours: number;
  intervalMs: number;
}

export class RetentionSweeper {
  readonly #store: JobStore;
  readonly #options: RetentionOptions;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(store: JobStore, options: RetentionOptions, logger: Logger) {
    this.#store = store;
    this.#options = options;
    this.#logger = logger;
    this.#timer = setInterval(() => {
      this.#running ??= this.#sweep().finally(() => {
        this.#running = null;
      });
    }, options.intervalMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #sweep(): Promise<void> {
    const hours = (count: number) => Date.now() / 1000 - count * 3600;
    const { resultTtlHours, historyHours } = this.#options;
    let removed = 0;
    try {
      for (let more = true; more && !this.#stopped;) {
        const swept = await this.#store.sweep({
          jobsBefore: hours(resultTtlHours),
          eventsBefore: hours(historyHours),
          keysBefore: hours(historyHours),
        });
        removed += swept.removedJobIds.length;
        ({ more } = swept);
      }
      if (removed > 0) this.#logger.info({ removed }, 'jobs past their time removed');
    } catch (error) {
      this.#logger.warn({ error: String(error) }, 'retention failed; it is tried again');
    }
  }
}
