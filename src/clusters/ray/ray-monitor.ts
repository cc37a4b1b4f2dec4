/** Keeps one session with a Ray head, asks it for the cluster every two seconds and remembers the newest answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../base/back-off.js';
import type { Logger } from '../../base/logger-port.js';
import type { ClusterNode } from '../cluster-status.js';
import type { RayAddress } from './ray-address.js';
import { NoAnswer, RayFailure, toRayFailure } from './ray-failure.js';
import { RaySession } from './ray-session.js';
import { NOTHING_TOLD, takeSnapshot } from './ray-snapshot.js';
import { readRayToken } from './ray-token.js';

/** Milliseconds. */
export interface RayMonitorTimes {
  /** Time from the start of one round of questions to the start of the next. */
  poll: number;
  /** Deadline of each round. */
  deadline: number;
  /** A session is ended after this time without a list of nodes. */
  patience: number;
  leastBackOff: number;
  mostBackOff: number;
}

/** An older list of nodes is none. */
export const PATIENCE_MS = 60_000;

const TIMES: RayMonitorTimes = {
  poll: 2_000,
  deadline: 3_000,
  // A new session costs the head a process and takes it seconds, and Ray's store answers it no sooner.
  patience: PATIENCE_MS,
  leastBackOff: 500,
  // A head that comes back is found soon; an attempt that fails costs it a second of CPU at most.
  mostBackOff: 5_000,
};
/** Rounds in a row in which the head answers nothing at all. They end the session. */
const MISSED_ROUNDS = 2;

export interface RayMonitorOptions {
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
  /** Called after each list of nodes. */
  onList?: (nodes: readonly ClusterNode[]) => void;
  times?: Partial<RayMonitorTimes>;
}

export class RayMonitor {
  /** The newest answers, however old. */
  snapshot = NOTHING_TOLD;
  /** Whether there is a session; the head may be slow to answer all the same. */
  hasSession = false;
  /** The last failure; meaningful while no new snapshot comes. */
  reason = 'not connected yet';
  /** Versions of the last session that was opened; null before the first. */
  rayVersion: string | null = null;
  pythonVersion: string | null = null;
  readonly #options: RayMonitorOptions;
  readonly #times: RayMonitorTimes;
  readonly #backOff: BackOff;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #warned: string | null = null;

  /** Starts at once. */
  constructor(options: RayMonitorOptions) {
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

  /** Returns when the monitor is closed; rejects with what ended the session. */
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
      this.hasSession = true;
      this.rayVersion = session.rayVersion;
      this.pythonVersion = session.pythonVersion;
      await this.#poll(session, AbortSignal.any([session.lost, stop]));
    } finally {
      this.hasSession = false;
      stop.removeEventListener('abort', close);
      await session.close();
    }
  }

  async #poll(session: RaySession, ended: AbortSignal): Promise<void> {
    let toldAt = performance.now();
    let missed = 0;
    let connected = false;
    while (!ended.aborted) {
      const startedAt = performance.now();
      try {
        const known = this.snapshot;
        this.snapshot = await takeSnapshot(session, this.#times.deadline, known);
        missed = 0;
        const { nodes } = this.snapshot;
        if (nodes !== null && nodes !== known.nodes) {
          toldAt = nodes.at;
          if (!connected) this.#noteConnection();
          if (!connected || hasJoined(known.nodes?.value, nodes.value)) this.#options.onNodes();
          connected = true;
          this.#options.onList?.(nodes.value);
        } else this.#noteSilence(toldAt);
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

  /** The head itself answers. Throws a `RayFailure` after `patience`: the session's own process may hang. */
  #noteSilence(since: number): void {
    const { deadline, patience } = this.#times;
    const seconds = deadline / 1_000;
    this.reason = `the head answers, but gives no list of nodes within ${seconds} s`;
    if (performance.now() - since > patience) throw new RayFailure(this.reason);
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
    // Warn once of a head that cannot be reached, not once per attempt.
    if (failure.message === this.#warned) logger.debug(fields, 'Ray cluster still unavailable');
    else logger.warn(fields, 'Ray cluster unavailable');
    this.#warned = failure.message;
    this.reason = failure.message;
  }
}

/** Is a node alive now that was not? */
function hasJoined(known: readonly ClusterNode[] = [], now: readonly ClusterNode[]): boolean {
  const before = new Set(known.filter(({ alive }) => alive).map(({ nodeId }) => nodeId));
  return now.some(({ nodeId, alive }) => alive && !before.has(nodeId));
}
