/** Promises that no caller awaits. A stop waits for them. */
import { setTimeout as sleep } from 'node:timers/promises';

export class OpenWork {
  readonly #open = new Set<Promise<void>>();

  add(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => {
      this.#open.delete(work);
    });
  }

  /** Resolves when no work is open, or after `ms`. Never rejects; does not keep the process alive. */
  async settled(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.#open.size > 0 && performance.now() < deadline) {
      const left = Math.max(0, deadline - performance.now());
      await Promise.race([Promise.allSettled(this.#open), sleep(left, undefined, { ref: false })]);
    }
  }
}
