/** Passes events to the listeners. An error of a listener is logged; it stays, and the others get the event. */
import type { JobEvent } from '../store/job.js';
import type { Logger } from '../base/logger-port.js';

export class JobEvents {
  readonly #listeners = new Set<(event: JobEvent) => void>();
  readonly #logger: Logger;
  #lastSeq: number;

  constructor(lastSeq: number, logger: Logger) {
    this.#lastSeq = lastSeq;
    this.#logger = logger;
  }

  /** Sequence number of the newest stored event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  listen(listener: (event: JobEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  emit(event: JobEvent): void {
    this.#lastSeq = Math.max(this.#lastSeq, event.seq);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#logger.error({ error: String(error), event: event.event }, 'job listener threw');
      }
    }
  }
}
