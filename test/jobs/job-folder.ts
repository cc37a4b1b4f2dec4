/** Jobs on a data folder of their own, and what tests ask of them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_LABELS } from '../../src/api/job-labels.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import { NO_ALLOWANCES } from '../../src/store/allowances.js';
import type { Job, JobEvent, JobSpec } from '../../src/store/job.js';
import type { JobService } from '../../src/jobs/job-service.js';
import { typedPaths } from '../../src/store/job-title.js';
import { createJobs, type Jobs, type JobsOptions } from '../../src/jobs/jobs.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { storeAllowances } from '../../src/store/store-allowances.js';
import { openUploads } from '../../src/uploads/open-uploads.js';
import type { UploadLimits } from '../../src/uploads/uploaded-files.js';
import type { Uploads } from '../../src/uploads/uploads.js';
import { Views } from '../../src/views/views.js';
import { FakeDetector } from '../support/fake-detector.js';
import { until } from '../support/eventually.js';
import { silent } from '../support/silent-logger.js';

export function specOf(changes: Partial<JobSpec> = {}): JobSpec {
  return {
    jobType: 'detect_cars',
    imagePaths: ['a.jpg'],
    options: { ...DEFAULT_PARAMETERS, modelName: 'yolov8n.pt', classes: ['car'] },
    priority: 0,
    callbackUrl: null,
    metadata: null,
    annotate: false,
    places: false,
    reuse: 'off',
    keyId: null,
    labels: NO_LABELS,
    typed: typedPaths(changes.imagePaths ?? ['a.jpg']),
    ...changes,
  };
}

export function imagesNamed(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}.jpg`);
}

/** Removed with `using`. */
export class TemporaryFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'lattice-jobs-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface TestJobs extends Jobs, JobParts, AsyncDisposable {
  store: ServiceStore;
  detector: FakeDetector;
  /** All events since the opening. */
  events: JobEvent[];
  /** Stops without waiting for images and opens the folder again. */
  reopen(changes?: Changes): Promise<TestJobs>;
}

interface JobParts {
  views: Views;
  uploads: Uploads;
}

export interface PartChanges extends Pick<JobsOptions, 'allowances' | 'mostBytes'> {
  imageRoots?: readonly string[];
  /** Absent: no photos are taken. */
  limits?: UploadLimits;
}

const NO_UPLOADS: UploadLimits = { maxBytes: 0, maxFileBytes: Infinity, maxFiles: 0 };

/** Views and uploads over a store, which jobs need. */
export async function openParts(
  store: ServiceStore,
  dataDir: string,
  { imageRoots = [], limits, allowances = NO_ALLOWANCES, mostBytes = 0 }: PartChanges = {},
): Promise<JobParts> {
  const shares = storeAllowances(store, allowances, mostBytes);
  const views = await Views.open(store, imageRoots, shares);
  const { maxBytes, maxFileBytes, maxFiles } = limits ?? NO_UPLOADS;
  const taken = { uploadsMaxMb: maxBytes / 2 ** 20, maxFileBytes, maxImagesPerJob: maxFiles };
  const config = { dataDir, imageRoots: [...imageRoots], ...taken };
  return { views, uploads: await openUploads({ config, store, allowances, logger: silent }) };
}

type Changes = Partial<JobsOptions> & PartChanges & { maxPages?: number | null };

export async function openTestJobs(
  folder: Pick<TemporaryFolder, 'path'>,
  changes: Changes = {},
  detector = new FakeDetector(),
): Promise<TestJobs> {
  const store = await openStore(folder.path, { maxPages: changes.maxPages });
  const parts = await openParts(store, folder.path, changes);
  const options: JobsOptions = {
    dataDir: folder.path,
    detector,
    maxQueuedJobs: 100_000,
    resultTtlHours: 24,
    volumePatienceMs: 60_000,
    volumePauseMs: 100,
    logger: silent,
    imageBackoffMs: 1,
    storeRetryMs: 20,
    ...parts,
    ...changes,
  };
  const jobs = await createJobs(store, options);
  jobs.start();
  const events: JobEvent[] = [];
  jobs.service.onEvent((event) => events.push(event));
  return {
    ...jobs,
    ...parts,
    store,
    detector,
    events,
    reopen: async (more = {}) => {
      await jobs.stop(0);
      return openTestJobs(folder, { ...changes, ...more }, new FakeDetector());
    },
    [Symbol.asyncDispose]: () => jobs.stop(0),
  };
}

export async function ended(service: JobService, jobId: string): Promise<Job> {
  let job = await service.get(jobId, null);
  await until(async () => {
    job = await service.get(jobId, null);
    return job.completedAt !== null;
  }, `end of ${jobId}`);
  return job;
}
