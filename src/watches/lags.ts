import { rounded } from '../base/rounded.js';

/** The newest times from the arrival of a file to its result. */
const KEPT = 1_000;

export class Lags {
  readonly #seconds: number[] = [];
  #next = 0;

  add(seconds: number): void {
    this.#seconds[this.#next] = seconds;
    this.#next = (this.#next + 1) % KEPT;
  }

  /** Null before the first. */
  get percentiles(): { p50: number; p99: number } | null {
    const sorted = [...this.#seconds].sort((a, b) => a - b);
    if (sorted.length === 0) return null;
    const at = (share: number) => rounded(sorted[Math.floor(share * (sorted.length - 1))] ?? 0, 3);
    return { p50: at(0.5), p99: at(0.99) };
  }
}
