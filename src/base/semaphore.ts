/** Limits how much work runs at the same time. The rest waits and runs in the order of its calls. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atATime: number) {
    this.#free = atATime;
  }

  /** Calls whose work has not begun. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Settles as `work` does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
