/** Takes in the pictures of cameras and finds late ones in small steps, for the watches that ask for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/logger-port.js';
import type { WatchLedger } from './watch-ledger.js';
import type { WatchRun } from './watch-run.js';

const INTERVAL_MS = 2_000;

export class CameraChecks {
  readonly #ledger: Pick<WatchLedger, 'checkCameras'>;
  readonly #runs: () => Iterable<Pick<WatchRun, 'watch' | 'progress'>>;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  /** Since when each watch works without a pause, in Unix seconds: in a pause no camera is late. */
  readonly #since = new Map<number, number>();
  readonly #working: Promise<void>;

  constructor(
    ledger: Pick<WatchLedger, 'checkCameras'>,
    runs: () => Iterable<Pick<WatchRun, 'watch' | 'progress'>>,
    logger: Logger,
  ) {
    this.#ledger = ledger;
    this.#runs = runs;
    this.#logger = logger;
    this.#working = this.#work();
  }

  /** Resolves after the step in progress. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    const pause = { signal, ref: false };
    while (!signal.aborted) {
      await sleep(INTERVAL_MS, undefined, pause).catch(() => undefined);
      try {
        await this.#check();
      } catch (error) {
        this.#logger.warn({ error: String(error) }, 'cameras cannot be checked; it is tried again');
      }
    }
  }

  async #check(): Promise<void> {
    let more = true;
    while (more && !this.#stopping.signal.aborted) {
      const now = Date.now() / 1_000;
      more = await this.#ledger.checkCameras(now, this.#workingSince(now));
    }
  }

  #workingSince(now: number) {
    const working = [...this.#runs()].filter(
      ({ watch, progress }) => watch.cameraHealth === true && progress.state === 'active',
    );
    const numbers = new Set(working.map(({ watch }) => watch.number));
    for (const number of this.#since.keys()) {
      if (!numbers.has(number)) this.#since.delete(number);
    }
    return [...numbers].map((watch) => {
      const since = this.#since.get(watch) ?? now;
      this.#since.set(watch, since);
      return { watch, since };
    });
  }
}
