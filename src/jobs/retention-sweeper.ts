/**
 * Removes expired jobs, events, keys and the photos of removed jobs in batches, once per interval, and the oldest jobs
 * where the store is too large.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isEnd } from '../api/events.js';
import type { Logger } from '../base/logger-port.js';
import type { MadeRoom, StoreShares, Swept } from '../store/job-records.js';
import type { ServiceStore } from '../store/service-store.js';
import { ROOM_FROM } from '../store/store-allowances.js';
import type { Uploads } from '../uploads/uploads.js';

const MIB = 1024 * 1024;
/** Share of the bound: from `ROOM_FROM` on room is made until this is reached. */
const ROOM_UNTIL = 0.8;
/** Pause between two looks at what keys have, however often they are refused. */
const PAUSE_MS = 1_000;

export type RemovalReason = 'age' | 'bound' | 'request';

export interface RetentionOptions {
  resultTtlHours: number;
  /** How long events and idempotency keys are kept. */
  historyHours: number;
  intervalMs: number;
  /** Bytes of the store; 0: no bound. */
  mostBytes: number;
  /** Shares of the bound, by API key. */
  shares: () => StoreShares;
  /** Removes files of drawn copies that belong to no job any more. */
  removeCopies: (names: readonly string[]) => Promise<void>;
}

type SweptStore = Pick<
  ServiceStore,
  'sweepLimits' | 'sweep' | 'makeRoom' | 'keepToMarks' | 'size' | 'onCommitted'
>;

/** Works from its start until the stop, which waits for the batch in progress. */
export class RetentionSweeper {
  readonly #store: SweptStore;
  readonly #uploads: Pick<Uploads, 'sweep'>;
  readonly #options: RetentionOptions;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #removed: Record<RemovalReason, number> = { age: 0, bound: 0, request: 0 };
  readonly #working: Promise<void>;
  readonly #unlisten: () => void;
  /** Wakes the work before its interval is over. */
  #wake: () => void = () => undefined;
  #isRequested = false;
  /** True: nothing is left that may be removed, and the store is larger than its bound. */
  #isStuck = false;
  /** Removed for the bound since it was last said. */
  #unsaid: { removed: number; oldest: number; newest: number } | null = null;
  #saidAt = -Infinity;
  #sweptAt = -Infinity;

  constructor(
    store: SweptStore,
    uploads: Pick<Uploads, 'sweep'>,
    options: RetentionOptions,
    logger: Logger,
  ) {
    this.#store = store;
    this.#uploads = uploads;
    this.#options = options;
    this.#logger = logger;
    this.#working = this.#work();
    this.#unlisten = store.onCommitted((events) => {
      if (events.some(({ event }) => isEnd(event))) this.#isStuck = false;
      if (this.#isAbove(ROOM_FROM) && !this.#isStuck) this.#sweepSoon();
    });
  }

  /** Jobs removed by this process. */
  get removed(): Readonly<Record<RemovalReason, number>> {
    return this.#removed;
  }

  /** The store has reached its bound: new jobs must wait until there is room. */
  get isFull(): boolean {
    return this.#isAbove(1);
  }

  /** A key has all that it may take: its oldest jobs may go. */
  keyIsFull(): void {
    if (performance.now() - this.#sweptAt > PAUSE_MS) this.#sweepSoon();
  }

  /** A caller has removed a job: its images are still there. */
  removedOnRequest(): void {
    this.#removed.request += 1;
    this.#isStuck = false;
    this.#sweepSoon();
  }

  /** A sweep begins at once, or after the one that is in progress. */
  #sweepSoon(): void {
    this.#isRequested = true;
    this.#wake();
  }

  stop(): Promise<void> {
    this.#unlisten();
    this.#stopping.abort();
    this.#wake();
    return this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#isRequested = false;
      this.#sweptAt = performance.now();
      try {
        await this.#sweep();
        await this.#makeRoom();
        // Sweep uploads after jobs: photos are removed with the job that has them.
        await this.#uploads.sweep();
      } catch (error) {
        this.#logger.warn({ error: String(error) }, 'retention failed; it is tried again');
      }
      if (this.#mayPause()) await this.#pause();
    }
  }

  /** Both may have changed during the work. */
  #mayPause(): boolean {
    return !this.#isRequested && !this.#stopping.signal.aborted;
  }

  async #pause(): Promise<void> {
    const waking = new AbortController();
    this.#wake = () => {
      waking.abort();
    };
    const { intervalMs } = this.#options;
    await sleep(intervalMs, undefined, { signal: waking.signal, ref: false }).catch(() => null);
    this.#wake = () => undefined;
  }

  async #sweep(): Promise<void> {
    const { resultTtlHours, historyHours } = this.#options;
    const before = this.#removed.age;
    const now = Date.now() / 1000;
    const running = performance.now() / 1000;
    const kept = { now, running, resultTtlHours, historyHours };
    const limits = await this.#store.sweepLimits(kept);
    await this.#batches(async () => {
      const swept = await this.#store.sweep(limits);
      this.#removed.age += swept.removed;
      return swept;
    });
    const removed = this.#removed.age - before;
    if (removed > 0) this.#logger.info({ removed }, 'jobs past their time removed');
  }

  async #makeRoom(): Promise<void> {
    const { mostBytes } = this.#options;
    const shares = this.#options.shares();
    if (Object.values(shares ?? {}).some(({ isExplicit }) => isExplicit)) {
      await this.#batches(async () => {
        const made = await this.#store.keepToMarks(shares);
        this.#note(made);
        return made;
      });
    }
    const { used, file } = this.#store.size();
    if (mostBytes > 0 && (used > mostBytes * ROOM_FROM || file > mostBytes)) {
      const last = await this.#batches(async () => {
        const most = { used: mostBytes * ROOM_UNTIL, file: mostBytes };
        const made = await this.#store.makeRoom(most, shares);
        this.#note(made);
        return made;
      });
      this.#sayStuck(last);
    }
    this.#sayRemoved();
  }

  /** The last one; null where there was none. */
  async #batches<T extends Swept>(batch: () => Promise<T>): Promise<T | null> {
    let last: T | null = null;
    while (last?.more !== false && !this.#stopping.signal.aborted) {
      last = await batch();
      if (last.copies.length > 0) await this.#options.removeCopies(last.copies);
    }
    return last;
  }

  #note({ removed, oldest, newest }: MadeRoom): void {
    if (removed === 0 || oldest === null || newest === null) return;
    this.#removed.bound += removed;
    const before = this.#unsaid ?? { removed: 0, oldest, newest };
    this.#unsaid = {
      removed: before.removed + removed,
      oldest: Math.min(before.oldest, oldest),
      newest: Math.max(before.newest, newest),
    };
  }

  /** Logs at most once per interval: under a flood jobs are removed all the time. */
  #sayRemoved(): void {
    const { mostBytes, intervalMs } = this.#options;
    if (this.#unsaid === null || performance.now() - this.#saidAt < intervalMs) return;
    const { removed, oldest, newest } = this.#unsaid;
    const hoursSince = (at: number) => Math.round((Date.now() / 1000 - at) / 36) / 100;
    this.#logger.warn(
      {
        removed,
        endedHoursAgo: { oldest: hoursSince(oldest), newest: hoursSince(newest) },
        storeMaxMb: mostBytes / MIB,
      },
      'the job store is as large as LATTICE_STORE_MAX_MB allows: its oldest ended jobs were removed before their ' +
        'time; keep those that matter, raise the bound, or shorten LATTICE_RESULT_TTL_HOURS',
    );
    this.#unsaid = null;
    this.#saidAt = performance.now();
  }

  /** Logs it once, and again after there was room. */
  #sayStuck(last: MadeRoom | null): void {
    const isStuck = last !== null && !last.more && this.#isAbove(ROOM_UNTIL);
    if (isStuck && !this.#isStuck) {
      const { used, file } = this.#store.size();
      const facts = { usedMb: used / MIB, fileMb: file / MIB };
      this.#logger.error(
        { ...facts, storeMaxMb: this.#options.mostBytes / MIB },
        'the job store is nearly as large as LATTICE_STORE_MAX_MB allows, and only jobs are left that are kept, have ' +
          'not ended or wait for their webhook: at the bound new jobs are refused; raise it, or remove kept jobs',
      );
    }
    this.#isStuck = isStuck;
  }

  #isAbove(share: number): boolean {
    const { mostBytes } = this.#options;
    return mostBytes > 0 && this.#store.size().used > mostBytes * share;
  }
}
