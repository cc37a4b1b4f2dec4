/** Removes expired jobs, events, keys and the photos of removed jobs in batches, once per interval. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobStore } from './store/job-store.js';
import type { Uploads } from './uploads.js';
import type { Logger } from '../base/logger-port.js';

export interface RetentionOptions {
  resultTtlHours: number;
  /** How long events and idempotency keys are kept. */
  historyHours: number;
  intervalMs: number;
}

/** Sweeps at once and then once per interval until the stop, which waits for the sweep in progress. */
export function startRetention(
  store: JobStore,
  uploads: Pick<Uploads, 'sweep'>,
  { resultTtlHours, historyHours, intervalMs }: RetentionOptions,
  logger: Logger,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const sweep = async () => {
    let removed = 0;
    const limits = await store.sweepLimits({
      now: Date.now() / 1000,
      running: performance.now() / 1000,
      resultTtlHours,
      historyHours,
    });
    for (let more = true; more && !signal.aborted;) {
      const swept = await store.sweep(limits);
      removed += swept.removed;
      ({ more } = swept);
    }
    // After the jobs: photos go with the job that has them.
    await uploads.sweep();
    if (removed > 0) logger.info({ removed }, 'jobs past their time removed');
  };
  const work = async () => {
    while (!signal.aborted) {
      await sweep().catch((error: unknown) => {
        logger.warn({ error: String(error) }, 'retention failed; it is tried again');
      });
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => null);
    }
  };
  const working = work();
  return {
    stop: () => {
      stopping.abort();
      return working;
    },
  };
}
