/** Runs work when asked, never twice at once and never more often than its pace. */

export class PacedRefresh {
  readonly #work: () => Promise<void>;
  readonly #paceMs: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running = false;
  #wanted = false;
  #lastEnd = -Infinity;

  /** `work` never rejects. */
  constructor(work: () => Promise<void>, paceMs: number) {
    this.#work = work;
    this.#paceMs = paceMs;
  }

  /** As soon as the pace allows. What is asked for while the work runs makes it run once more. */
  request(): void {
    this.#wanted = true;
    if (this.#running || this.#timer !== null) return;
    const wait = Math.max(0, this.#lastEnd + this.#paceMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#run();
    }, wait);
  }

  /** Forgets what was asked for; work that runs goes on. */
  stop(): void {
    this.#wanted = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #run(): Promise<void> {
    this.#wanted = false;
    this.#running = true;
    await this.#work();
    this.#running = false;
    this.#lastEnd = performance.now();
    this.#again();
  }

  #again(): void {
    if (this.#wanted) this.request();
  }
}
