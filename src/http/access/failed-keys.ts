/** Slows clients that present unknown API keys. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LatticeError } from '../../api/errors.js';
import { networkOf } from './network-of.js';

/** Failures that cost no time: a mistyped key, a key that was replaced. */
const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;
/** Failures of an address are forgotten after this time without a new one. */
const FORGET_MS = 600_000;
const MAX_ADDRESSES = 4_096;
const MAX_WAITING = 1_000;

interface Failures {
  count: number;
  at: number;
}

export class FailedKeys {
  /** Least recent failure first. */
  readonly #byAddress = new Map<string, Failures>();
  readonly #stopping: AbortSignal | undefined;
  #waiting = 0;

  constructor(stopping: AbortSignal | undefined) {
    this.#stopping = stopping;
    if (stopping !== undefined) setMaxListeners(0, stopping);
  }

  /**
   * Counts a failure and resolves when it may be answered: at once for the first five of an address, then after 250 ms,
   * doubled with each failure up to 8 s; at a stop at once. Rejects with `rate_limited` while 1,000 answers are
   * waiting.
   */
  async delay(address: string): Promise<void> {
    const delayMs = this.#nextDelay(networkOf(address));
    if (delayMs === 0) return;
    if (this.#waiting >= MAX_WAITING) {
      const retryAfterS = delayMs / 1_000;
      throw new LatticeError('rate_limited', 'Too many unknown API keys.', { retryAfterS });
    }
    this.#waiting += 1;
    const until = this.#stopping === undefined ? {} : { signal: this.#stopping };
    await sleep(delayMs, undefined, { ref: false, ...until }).catch(() => null);
    this.#waiting -= 1;
  }

  #nextDelay(network: string): number {
    const now = performance.now();
    const last = this.#byAddress.get(network);
    const count = last === undefined || now - last.at > FORGET_MS ? 1 : last.count + 1;
    this.#byAddress.delete(network);
    this.#byAddress.set(network, { count, at: now });
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MAX_ADDRESSES && oldest !== undefined) {
      this.#byAddress.delete(oldest);
    }
    if (count <= FREE_FAILURES) return 0;
    return Math.min(FIRST_DELAY_MS * 2 ** (count - FREE_FAILURES - 1), MAX_DELAY_MS);
  }
}
