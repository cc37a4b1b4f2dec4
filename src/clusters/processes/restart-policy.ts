/** When a process that ended is started again. The same rules as `cluster/lattice_ray/restart_policy.py`. */
import { BackOff } from '../../base/back-off.js';

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** After such a life earlier ends do not count. */
const HEALTHY_MS = 60_000;
/** A process that ends sooner has failed at its start. */
const QUICK_MS = 10_000;
const MOST_FAILED_STARTS = 5;

/** At once after the first end, then after growing waits; not again after too many failed starts in a row. */
export class RestartPolicy {
  readonly #backOff: BackOff;
  #ends = 0;
  #failedStarts = 0;

  constructor(backOff: BackOff = new BackOff(SHORTEST_WAIT_MS, LONGEST_WAIT_MS)) {
    this.#backOff = backOff;
  }

  /** Milliseconds to wait before the next start; null when there is to be none. `joined`: the process did serve. */
  afterEnd(lifeMs: number, joined: boolean): number | null {
    if (lifeMs >= HEALTHY_MS) {
      this.#ends = 0;
      this.#backOff.reset();
    }
    this.#failedStarts = joined && lifeMs >= QUICK_MS ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts >= MOST_FAILED_STARTS) return null;
    this.#ends += 1;
    return this.#ends === 1 ? 0 : this.#backOff.next();
  }
}
