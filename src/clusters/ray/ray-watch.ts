/** Keeps one session with a Ray head, asks it for the cluster every two seconds and remembers the newest answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../base/back-off.js';
import type { Logger } from '../../base/logger-port.js';
import type { RayAddress } from './ray-address.js';
import { NoAnswer, RayFailure, toRayFailure } from './ray-failure.js';
import { RaySession } from './ray-session.js';
import { takeSnapshot, type RaySnapshot } from './ray-snapshot.js';
import { readRayToken } from './ray-token.js';

/** Milliseconds. */
export interface RayWatchTimes {
  /** From the start of one round of questions to the start of the next. */
  poll: number;
  /** For each round; two missed in a row end the session. */
  deadline: number;
  leastBackOff: number;
  mostBackOff: number;
}

const TIMES: RayWatchTimes = {
  poll: 2_000,
  deadline: 3_000,
  leastBackOff: 500,
  // A head that comes back is found soon; an attempt that fails costs it a second of CPU at most.
  mostBackOff: 5_000,
};
const MISSED_ROUNDS = 2;

export interface RayWatchOptions {
  address: RayAddress;
  namespace: string;
  /** Read again for each session; empty for none. */
  tokenFile: string;
  logger: Logger;
  /**
   * Called after the first snapshot of every new session, as the head may be a new one that knows nothing, and
   * when a node has joined.
   */
  onNodes: () => void;
  times?: Partial<RayWatchTimes>;
}

export class RayWatch {
  /** The newest one, however old. */
  snapshot: RaySnapshot | null = null;
  /** What failed last; meaningful while no new snapshot comes. */
  reason = 'not connected yet';
  /** Versions of the last session that was opened; null before the first. */
  rayVersion: string | null = null;
  pythonVersion: string | null = null;
  readonly #options: RayWatchOptions;
  readonly #times: RayWatchTimes;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #warned: string | null = null;

  /** Starts at once. */
  constructor(options: RayWatchOptions) {
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#backOff = new BackOff(this.#times.leastBackOff, this.#times.mostBackOff);
    this.#running = this.#run();
  }

  /** Gives the session back. Takes two seconds at most; never rejects. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let wait = 0;
      try {
        await this.#holdSession();
      } catch (error) {
        this.#noteFailure(toRayFailure(error));
        wait = this.#backOff.next();
      }
      await sleep(wait, undefined, { signal }).catch(() => null);
    }
  }

  /** Returns when the watch is closed; rejects with what ended the session. */
  async #holdSession(): Promise<void> {
    const { address, namespace, tokenFile } = this.#options;
    const token = await readRayToken(tokenFile).catch((error: unknown) => {
      throw new RayFailure((error as Error).message, error);
    });
    const stop = this.#stop.signal;
    const session = await RaySession.open({ address, namespace, token, signal: stop });
    const close = () => void session.close();
    stop.addEventListener('abort', close, { once: true });
    try {
      this.rayVersion = session.rayVersion;
      this.pythonVersion = session.pythonVersion;
      await this.#poll(session, AbortSignal.any([session.lost, stop]));
    } finally {
      stop.removeEventListener('abort', close);
      await session.close();
    }
  }

  async #poll(session: RaySession, ended: AbortSignal): Promise<void> {
    let connected = false;
    let missed = 0;
    while (!ended.aborted) {
      const startedAt = performance.now();
      try {
        const known = this.snapshot;
        this.snapshot = await takeSnapshot(session, this.#times.deadline);
        missed = 0;
        if (!connected) this.#noteConnection();
        if (!connected || hasJoined(known, this.snapshot)) this.#options.onNodes();
        connected = true;
      } catch (error) {
        const failure = toRayFailure(error);
        if (!(failure instanceof NoAnswer) || ++missed === MISSED_ROUNDS) throw failure;
        this.reason = failure.message;
      }
      const left = startedAt + this.#times.poll - performance.now();
      await sleep(Math.max(0, left), undefined, { signal: ended }).catch(() => null);
    }
    if (session.lost.aborted) throw toRayFailure(session.lost.reason);
  }

  #noteConnection(): void {
    this.#backOff.reset();
    this.#warned = null;
    this.reason = 'no answer for a while';
    const { address, logger } = this.#options;
    const versions = { ray: this.rayVersion, python: this.pythonVersion };
    logger.info({ address: address.text, ...versions }, 'Ray cluster connected');
  }

  #noteFailure(failure: RayFailure): void {
    if (this.#stop.signal.aborted) return;
    const { address, logger } = this.#options;
    const fields = { address: address.text, reason: failure.message };
    // One log line for a head that cannot be reached, not one per attempt.
    if (failure.message === this.#warned) logger.debug(fields, 'Ray cluster still unavailable');
    else logger.warn(fields, 'Ray cluster unavailable');
    this.#warned = failure.message;
    this.reason = failure.message;
  }
}

/** Is a node alive now that was not? */
function hasJoined(known: RaySnapshot | null, now: RaySnapshot): boolean {
  const before = new Set(known?.nodes.filter(({ alive }) => alive).map(({ nodeId }) => nodeId));
  return now.nodes.some(({ nodeId, alive }) => alive && !before.has(nodeId));
}
