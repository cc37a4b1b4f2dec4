/** Puts the job part of the service together. */
import { statfsSync, statSync } from 'node:fs';
import { LatticeError } from '../api/errors.js';
import type { Detector } from '../execution/detector.js';
import { forgetCrashReport, readCrashReport } from './crash-marker.js';
import type { Annotate, ReadTime } from './runner/image-run.js';
import { JobEvents } from './job-events.js';
import { JobRunner } from './runner/job-runner.js';
import type { JobStore, WebhookQueue } from './store/job-store.js';
import type { Logger } from '../base/logger-port.js';
import { Patience } from './runner/patience.js';
import { QueueCounts } from './queue-counts.js';
import { Reuse, type ReuseParts } from './runner/reuse.js';
import { startRetention } from './retention-sweeper.js';
import type { QueuedJob } from './job-records.js';
import { JobService } from './job-service.js';
import { Views } from './views.js';

export { openJobStore } from './store/job-store.js';

export interface JobsOptions {
  /** The folder of the store. */
  dataDir: string;
  /** Stays open longer than the jobs. */
  detector: Detector;
  maxQueuedJobs: number;
  resultTtlHours: number;
  /** How long images wait for a volume that does not answer before they fail. */
  volumePatienceMs: number;
  logger: Logger;
  /** Views match paths beneath them. */
  imageRoots?: readonly string[];
  annotate?: Annotate;
  readTime?: ReadTime;
  /** What results depend on beside their requests, and how files are looked at; without it each image runs. */
  reuse?: Pick<ReuseParts, 'environment' | 'look'>;
  /** So many images took over a stored result. */
  onReused?: (images: number) => void;
  /** Waiting time that raises a job by one priority. */
  ageingSeconds?: number;
  progressIntervalMs?: number;
  retentionIntervalMs?: number;
  /** How long events and idempotency keys are kept. */
  historyHours?: number;
  /** Pause before the first retry of an image that the detector refused as overloaded; doubled for the second. */
  imageBackoffMs?: number;
  /** Pause before the retry of images whose volume did not answer. */
  volumePauseMs?: number;
  /** Pause before a failed write is repeated. */
  storeRetryMs?: number;
  /** Submits are refused while less than this is free on the disk. */
  reserveBytes?: number;
}

export interface Jobs {
  service: JobService;
  webhooks: WebhookQueue;
  /** Accepts no job, starts no image, waits for running ones until `deadlineMs`. Idempotent; never rejects. */
  drain(deadlineMs: number): Promise<void>;
  /** Drains, then closes the store. Idempotent; never rejects. */
  stop(deadlineMs: number): Promise<void>;
  /** Why jobs cannot be stored at the moment; null when they can. */
  health(): Promise<LatticeError | null>;
}

/** Opens the jobs and starts their work. They own the store from here on and close it, also if the opening fails. */
export async function openJobs(store: JobStore, options: JobsOptions): Promise<Jobs> {
  const { dataDir, detector, logger } = options;
  try {
    warnOfOpenFolder(dataDir, logger);
    const { pending, running, queuedImages } = await store.counts();
    // Nothing runs yet: jobs that a full disk has left `running` start like those that wait.
    const counts = new QueueCounts({ pending: pending + running, running: 0, queuedImages });
    const events = new JobEvents(store.lastSeq, logger);
    store.onCommitted((committed) => {
      for (const event of committed) events.emit(event);
    });
    const views = await Views.open(store, options.imageRoots ?? []);
    const patience = new Patience(logger, options.storeRetryMs ?? 1_000);
    const runner = new JobRunner({
      store,
      detector,
      counts,
      events,
      progressIntervalMs: options.progressIntervalMs ?? 250,
      patience,
      logger,
      annotate: options.annotate ?? null,
      views,
      readTime: options.readTime ?? null,
      reuse: options.reuse ? new Reuse({ ...options.reuse, detector, store, views, logger }) : null,
      look: options.reuse?.look ?? null,
      onReused: options.onReused ?? (() => undefined),
      backoffMs: options.imageBackoffMs ?? 250,
      ageingSeconds: options.ageingSeconds ?? 30,
      volumeTimes: {
        pauseMs: options.volumePauseMs ?? 10_000,
        patienceMs: options.volumePatienceMs,
      },
    });
    for (const job of JSON.parse(await store.unfinished()) as QueuedJob[]) runner.enqueue(job);
    runner.start(chargeCrash(dataDir, store, logger));
    logger.info({ recovered: store.recoveredJobs, ...counts.current }, 'job store open');
    const failure = store.failure();
    if (failure !== null)
      logger.error({ failure }, 'the disk of the job store is full: reads only');
    return assemble(options, store, runner, { counts, events, views });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function assemble(
  options: JobsOptions,
  store: JobStore,
  runner: JobRunner,
  parts: { counts: QueueCounts; events: JobEvents; views: Views },
): Jobs {
  const { dataDir, detector, logger, maxQueuedJobs, resultTtlHours } = options;
  const reserveBytes = options.reserveBytes ?? 64 * 1024 * 1024;
  const nearlyFull = () => freeBytes(dataDir) < reserveBytes;
  const intervalMs = options.retentionIntervalMs ?? 60_000;
  const historyHours = options.historyHours ?? 24;
  const retention = startRetention(store, { resultTtlHours, historyHours, intervalMs }, logger);
  let drained: Promise<unknown> | null = null;
  const service = new JobService({
    store,
    runner,
    ...parts,
    nearlyFull,
    maxQueuedJobs,
    stats: () => detector.stats(),
    stopping: () => drained !== null,
  });
  const drain = async (deadlineMs: number) => {
    await (drained ??= Promise.all([runner.stop(deadlineMs), retention.stop()]));
  };
  return {
    service,
    webhooks: store.webhooks,
    drain,
    stop: async (deadlineMs) => {
      await drain(deadlineMs);
      await store.close();
    },
    health: () => Promise.resolve(storeHealth(store, nearlyFull)),
  };
}

function warnOfOpenFolder(dataDir: string, logger: Logger): void {
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  const facts = { dataDir, mode: mode.toString(8) };
  logger.warn(
    facts,
    'other users can enter the data folder: make it 0700 if no other user needs it',
  );
}

/** Stores the deaths before it removes the file: a crash in between charges no image twice. */
function chargeCrash(dataDir: string, store: JobStore, logger: Logger): () => Promise<void> {
  const report = readCrashReport(dataDir);
  return async () => {
    if (report === null) return;
    const charged = await store.chargeDeaths(report.markerId, report.tasks);
    logger.warn({ inHand: report.tasks.length, charged }, 'the last process crashed with images');
    forgetCrashReport(dataDir);
  };
}

/** Infinity if it is not known: the next write then shows the fault of the folder. */
function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

function storeHealth(store: JobStore, nearlyFull: () => boolean): LatticeError | null {
  const reason = store.failure();
  if (reason !== null) {
    return new LatticeError('storage_unavailable', 'The job store cannot be written.', {
      cause: reason,
    });
  }
  if (!nearlyFull()) return null;
  return new LatticeError('storage_unavailable', 'The disk of the job store is nearly full.');
}
