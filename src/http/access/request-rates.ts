/** Requests of each API key: how many came in the last second, and those that are more than its mark allows. */
import { excess } from '../../store/allowances.js';

interface Rate {
  /** Requests that may come at once, at the time `at`. */
  tokens: number;
  at: number;
  /** A second of the clock, its requests, and those of the second before. */
  second: number;
  count: number;
  before: number;
}

export class RequestRates {
  readonly #byOwner = new Map<string, Rate>();
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that nothing sets. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request. Throws `quota_exceeded` beyond `perSecond`, of which a second's worth may come at once. */
  count(owner: string, perSecond: number | undefined): void {
    const now = this.#now();
    const rate = this.#rate(owner, now);
    rate.count += 1;
    if (perSecond === undefined) return;
    const most = Math.max(1, perSecond);
    const tokens = Math.min(most, rate.tokens + ((now - rate.at) / 1_000) * perSecond);
    rate.at = now;
    rate.tokens = tokens < 1 ? tokens : tokens - 1;
    if (tokens >= 1) return;
    throw excess({ quota: 'requests', limit: perSecond, isExplicit: true }, rate.count);
  }

  /** Requests of the owner in the last whole second. */
  of(owner: string): number {
    return this.#rate(owner, this.#now()).before;
  }

  #rate(owner: string, now: number): Rate {
    const second = Math.floor(now / 1_000);
    const rate = this.#byOwner.get(owner) ?? {
      tokens: Infinity,
      at: now,
      second,
      count: 0,
      before: 0,
    };
    if (rate.second !== second) {
      rate.before = rate.second === second - 1 ? rate.count : 0;
      rate.second = second;
      rate.count = 0;
    }
    this.#byOwner.set(owner, rate);
    return rate;
  }
}
