/** Puts the job part of the service together. */
import { statfsSync, statSync } from 'node:fs';
import { LatticeError } from '../api/errors.js';
import { NO_ALLOWANCES, type Allowances } from '../store/allowances.js';
import type { Detector } from '../execution/detector.js';
import { forgetCrashReport, readCrashReport } from '../store/crash-marker.js';
import type { Annotate, ReadTime } from './runner/image-run.js';
import { JobEvents } from './job-events.js';
import { JobRunner } from './runner/job-runner.js';
import type { ServiceStore } from '../store/service-store.js';
import { storeAllowances } from '../store/store-allowances.js';
import type { Logger } from '../base/logger-port.js';
import { Patience } from './runner/patience.js';
import { QueueCounts } from './queue-counts.js';
import { RetentionSweeper, type RemovalReason } from './retention-sweeper.js';
import type { QueuedJob, StoreSize } from '../store/job-records.js';
import { Reuse, type ReuseParts } from './runner/reuse.js';
import { JobService, type ServiceParts } from './job-service.js';
import type { Uploads } from '../uploads/uploads.js';
import type { Views } from '../views/views.js';

export interface JobsOptions {
  /** The folder of the store. */
  dataDir: string;
  /** Stays open longer than the jobs. */
  detector: Detector;
  maxQueuedJobs: number;
  /** Images keep the boxes above this score, whatever their job asks for. 1, the default: those above its threshold. */
  scoreFloor?: number;
  uploads: Pick<Uploads, 'borrow' | 'rootOf' | 'sweep'>;
  views: Pick<Views, 'resolve' | 'get'>;
  resultTtlHours: number;
  /** How long images wait for a volume that does not answer before they fail. */
  volumePatienceMs: number;
  logger: Logger;
  annotate?: Annotate;
  readTime?: ReadTime;
  /** The inputs of results beside their requests, and the reader of files; without it each image runs. */
  reuse?: Pick<ReuseParts, 'environment' | 'look'>;
  /** Called with the number of images that took over a stored result. */
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
  /** Largest size of the store in bytes; 0, the default: no bound. */
  mostBytes?: number;
  /** Limits per API key; without it a key takes all that there is. */
  allowances?: Allowances;
  /** Removes files of drawn copies that belong to no job any more. */
  removeCopies?: (names: readonly string[]) => Promise<void>;
}

export interface Jobs {
  service: JobService;
  /** Images run from now on. Call it once. */
  start(): void;
  /** Accepts no job, starts no image, waits for running ones until `deadlineMs`. Idempotent; never rejects. */
  drain(deadlineMs: number): Promise<void>;
  /** Drains, then closes the store. Idempotent; never rejects. */
  stop(deadlineMs: number): Promise<void>;
  /** Why jobs cannot be stored at the moment; null when they can. */
  health(): Promise<LatticeError | null>;
  /** Sizes of the store for the metrics. */
  storeFigures(): StoreFigures;
}

export interface StoreFigures {
  size: StoreSize;
  /** New jobs are refused because the store has reached its bound. */
  isFull: boolean;
  /** Jobs removed by this process. */
  removed: Readonly<Record<RemovalReason, number>>;
}

/**
 * Opens the jobs; no image runs before `start`. They own the store from here on and close it, also if the opening
 * fails.
 */
export async function createJobs(store: ServiceStore, options: JobsOptions): Promise<Jobs> {
  const { dataDir, detector, logger, views, uploads } = options;
  try {
    warnOfOpenFolder(dataDir, logger);
    const { pending, running, queuedImages } = await store.counts();
    // Nothing runs yet. Where the disk is full, the opening cannot put jobs of an earlier process back to `pending`:
    // those that it has left `running` start like those that wait.
    const counts = new QueueCounts({ pending: pending + running, running: 0, queuedImages });
    const events = new JobEvents(store.lastSeq, logger);
    store.onCommitted((committed) => {
      for (const event of committed) events.emit(event);
    });
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
      uploads,
      readTime: options.readTime ?? null,
      reuse: options.reuse ? new Reuse({ ...options.reuse, store, views, logger }) : null,
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
    logger.info({ recovered: store.recoveredJobs, ...counts.current }, 'job store open');
    const failure = store.failure();
    if (failure !== null)
      logger.error({ failure }, 'the disk of the job store is full: reads only');
    return assemble(options, store, runner, { counts, events });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function assemble(
  options: JobsOptions,
  store: ServiceStore,
  runner: JobRunner,
  parts: Pick<ServiceParts, 'counts' | 'events'>,
): Jobs {
  const { dataDir, detector, logger, maxQueuedJobs, resultTtlHours } = options;
  const reserveBytes = options.reserveBytes ?? 64 * 1024 * 1024;
  const nearlyFull = () => freeBytes(dataDir) < reserveBytes;
  const intervalMs = options.retentionIntervalMs ?? 60_000;
  const historyHours = options.historyHours ?? 24;
  const { mostBytes = 0, removeCopies = () => Promise.resolve() } = options;
  const { allowances = NO_ALLOWANCES } = options;
  const shares = () => allowances.all('store');
  const kept = { resultTtlHours, historyHours, intervalMs, mostBytes, shares, removeCopies };
  const retention = new RetentionSweeper(store, options.uploads, kept, logger);
  let drained: Promise<unknown> | null = null;
  const service = new JobService({
    store,
    runner,
    ...parts,
    allowances,
    ofStore: storeAllowances(store, allowances, mostBytes),
    keyIsFull: () => {
      retention.keyIsFull();
    },
    noRoom: (keyId) => {
      if (nearlyFull()) {
        return noRoom('The disk of the job store is nearly full', 'until space is free');
      }
      const until = 'until jobs are removed or LATTICE_STORE_MAX_MB is raised';
      // A key that has a share of its own is served within it.
      if (!retention.isFull || allowances.of('store', keyId) !== null) return null;
      return noRoom('The job store is as large as it may be', until);
    },
    removed: () => {
      retention.removedOnRequest();
    },
    maxQueuedJobs,
    views: options.views,
    scoreFloor: options.scoreFloor ?? 1,
    stats: () => detector.stats(),
    stopping: () => drained !== null,
  });
  const drain = async (deadlineMs: number) => {
    await (drained ??= Promise.all([runner.stop(deadlineMs), retention.stop()]));
  };
  const charge = chargeCrash(dataDir, store, logger);
  return {
    service,
    start: () => {
      runner.start(charge);
    },
    drain,
    stop: async (deadlineMs) => {
      await drain(deadlineMs);
      await store.close();
    },
    health: () => Promise.resolve(storeHealth(store, nearlyFull)),
    storeFigures: () => ({
      size: store.size(),
      isFull: retention.isFull,
      removed: retention.removed,
    }),
  };
}

function noRoom(why: string, until: string): LatticeError {
  const detail = `${why}; no job is accepted ${until}.`;
  return new LatticeError('storage_unavailable', detail, { retryAfterS: 30 });
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
function chargeCrash(dataDir: string, store: ServiceStore, logger: Logger): () => Promise<void> {
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

function storeHealth(store: ServiceStore, nearlyFull: () => boolean): LatticeError | null {
  const reason = store.failure();
  if (reason !== null) {
    return new LatticeError('storage_unavailable', 'The job store cannot be written.', {
      cause: reason,
    });
  }
  if (!nearlyFull()) return null;
  return new LatticeError('storage_unavailable', 'The disk of the job store is nearly full.');
}
