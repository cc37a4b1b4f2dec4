/**
 * When a process that ended is started again. The rules of `cluster/lattice_ray/restart_policy.py`, where `up` does
 * what the seldom starts do here.
 */
import { BackOff } from '../../base/back-off.js';

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** After a process has run this long, earlier ends do not count. */
const HEALTHY_MS = 60_000;
/** A process that ends sooner has failed at its start. */
const QUICK_MS = 10_000;
const MANY_FAILED_STARTS = 5;
/** Waits after many failed starts: the folder or the model that the process lacks may come back. */
const SELDOM_MS = { least: 60_000, most: 600_000 };

/** Restarts at once after the first end, then after growing waits; seldom after many failed starts in a row. */
export class RestartPolicy {
  readonly #backOff: BackOff;
  readonly #seldom: BackOff;
  #ends = 0;
  #failedStarts = 0;

  constructor(
    backOff = new BackOff(SHORTEST_WAIT_MS, LONGEST_WAIT_MS),
    seldom = new BackOff(SELDOM_MS.least, SELDOM_MS.most),
  ) {
    this.#backOff = backOff;
    this.#seldom = seldom;
  }

  /** Whether the process has failed at its start many times in a row. */
  get isFailing(): boolean {
    return this.#failedStarts >= MANY_FAILED_STARTS;
  }

  /** Milliseconds to wait before the next start. `joined`: the process did serve. */
  afterEnd(lifeMs: number, joined: boolean): number {
    if (lifeMs >= HEALTHY_MS) {
      this.#ends = 0;
      this.#backOff.reset();
    }
    if (joined && lifeMs >= QUICK_MS) {
      this.#failedStarts = 0;
      this.#seldom.reset();
    } else this.#failedStarts += 1;
    if (this.isFailing) return this.#seldom.next();
    this.#ends += 1;
    return this.#ends === 1 ? 0 : this.#backOff.next();
  }
}
