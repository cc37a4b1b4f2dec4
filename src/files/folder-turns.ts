/** Work of one kind: so much at a time, the rest in its order, and no more than a bound. */
import { LatticeError } from '../api/errors.js';

export class Turns {
  readonly #mostWaiting: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atATime: number, mostWaiting: number) {
    this.#free = atATime;
    this.#mostWaiting = mostWaiting;
  }

  /** The result of `work`; rejects with `overloaded` where too much waits already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.length >= this.#mostWaiting) {
      const detail = 'Too many folders or pictures are asked for at this moment.';
      throw new LatticeError('overloaded', detail, { retryAfterS: 1 });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
