/**
 * The job service on a store of its own. Its jobs stay pending and their images stay in the detector until the test
 * lets them go on; tests of what a slow or broken store does set how pages of images are read.
 */
import { LatticeError } from '../../src/api/errors.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import type { ImageOutcome, Job, JobSpec } from '../../src/store/job.js';
import type { JobService } from '../../src/jobs/job-service.js';
import { taskId, type StoredJob } from '../../src/store/job-records.js';
import { createJobs, type Jobs, type JobsOptions } from '../../src/jobs/jobs.js';
import { openStore, type ServiceStore, type WebhookQueue } from '../../src/store/service-store.js';
import { ended, openParts, TemporaryFolder, type PartChanges } from '../jobs/job-folder.js';
import { silent } from './silent-logger.js';
import { until } from './eventually.js';
import { okOutcome } from './outcomes.js';
import { ScriptedDetector } from './scripted-detector.js';

/** Promises by number, which may be settled before they are asked for. */
class Gates<T> {
  readonly #gates = new Map<number, { passed: Promise<T>; open: (value: T) => void }>();

  passed(number: number): Promise<T> {
    return this.#gate(number).passed;
  }

  open(number: number, value: T): void {
    this.#gate(number).open(value);
  }

  openAll(value: T): void {
    for (const { open } of this.#gates.values()) open(value);
  }

  #gate(number: number): { passed: Promise<T>; open: (value: T) => void } {
    const known = this.#gates.get(number);
    if (known !== undefined) return known;
    let open: (value: T) => void = () => undefined;
    const passed = new Promise<T>((resolve) => (open = resolve));
    this.#gates.set(number, { passed, open });
    return { passed, open };
  }
}

/** Answers an image of a job with its outcome, once there is one. */
class HeldDetector extends ScriptedDetector {
  readonly outcomes = new Gates<ImageOutcome>();

  override async detect({ id = 0, options, signal }: DetectRequest): Promise<ImageResult> {
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => {
        reject(new LatticeError('cancelled', 'The job has ended.'));
      });
    });
    const outcome = await Promise.race([this.outcomes.passed(id), aborted]);
    if (outcome.status === 'error') {
      throw new LatticeError(outcome.error.code, outcome.error.detail);
    }
    return { model: options.modelName, workerId: this.workerId, ...outcome };
  }

  /** Enough for every job of a test to be in hand. */
  override stats() {
    return { ...super.stats(), suggestedWindow: 100_000 };
  }
}

type Changes = Partial<JobsOptions> & PartChanges;

export class HeldJobs implements AsyncDisposable {
  /** Most images per read of the store. */
  imagesPerPage = Infinity;
  /** Reads of images so far; the one of number `brokenPage` fails. */
  pagesRead = 0;
  brokenPage = 0;
  /** Readers that have begun with pages and not ended. */
  readers = 0;
  parts!: Awaited<ReturnType<typeof openParts>>;
  #jobs!: Jobs;
  #store!: ServiceStore;
  readonly #folder: TemporaryFolder;
  readonly #detector = new HeldDetector();
  /** Whether a job may start; false fails its start, as a disk that is full does. */
  #starts = new Gates<boolean>();

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  static async open(changes: Changes = {}): Promise<HeldJobs> {
    const held = new HeldJobs(new TemporaryFolder());
    await held.#open(changes);
    return held;
  }

  get service(): JobService {
    return this.#jobs.service;
  }

  get webhooks(): WebhookQueue {
    return this.#store.webhooks;
  }

  /** The jobs, the newest first. */
  async jobs(): Promise<Job[]> {
    return (await this.service.list({}, { limit: 1_000, cursor: null })).jobs;
  }

  /** The submitted job. */
  async specOf(jobId: string): Promise<JobSpec> {
    const { spec } = await this.service.get(jobId, null);
    const images = await this.service.images(jobId);
    return { ...spec, imagePaths: images.map(({ path }) => path) };
  }

  /** Resolves once the job is running. */
  async start(jobId: string): Promise<void> {
    this.#starts.open((await this.#job(jobId)).number, true);
    await until(async () => (await this.#job(jobId)).startedAt !== null, `start of ${jobId}`);
  }

  /** Resolves once this many images of the job have an outcome; by default boxes are found in each. */
  async progress(jobId: string, finished: number, outcomes: ImageOutcome[] = []): Promise<void> {
    const { number } = await this.#job(jobId);
    this.#starts.open(number, true);
    for (let index = 0; index < finished; index += 1) {
      this.#detector.outcomes.open(taskId(number, index), outcomes[index] ?? okOutcome());
    }
    await until(
      async () => (await this.#job(jobId)).finishedImages >= finished,
      `${finished} images of ${jobId}`,
    );
  }

  /** Resolves once the job has ended, with an outcome for each of its images. */
  async finish(jobId: string, outcomes: ImageOutcome[]): Promise<void> {
    await this.progress(jobId, outcomes.length, outcomes);
    await ended(this.service, jobId);
  }

  /** Removes the events before this Unix time. */
  async forget(eventsBefore: number): Promise<void> {
    await this.#store.sweep({ jobsBefore: 0, eventsBefore, keysBefore: 0 });
  }

  /** The store gives up its folder: every later call of the service fails. */
  async loseStore(): Promise<void> {
    await this.#store.close();
  }

  /** As after a restart of the service. */
  async reopen(): Promise<void> {
    await this.#stop();
    await this.#open({});
  }

  /** At the end of a process, which closes no store. */
  removeFolder(): void {
    this.#folder[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#folder[Symbol.dispose]();
  }

  async #open(changes: Changes): Promise<void> {
    const { path } = this.#folder;
    this.#starts = new Gates();
    this.#store = await openStore(path);
    const { start, images } = this.#store;
    const held: ServiceStore = {
      ...this.#store,
      start: async (number, ...others) => {
        if (!(await this.#starts.passed(number))) {
          throw new LatticeError('storage_unavailable', 'The test is over.');
        }
        return start(number, ...others);
      },
      images: async (number, from, limit) => {
        this.pagesRead += 1;
        if (this.pagesRead === this.brokenPage) {
          throw new LatticeError('storage_unavailable', 'Disk.');
        }
        return images(number, from, Math.min(limit, this.imagesPerPage));
      },
    };
    this.parts = await openParts(this.#store, path, changes);
    this.#jobs = await createJobs(held, {
      ...this.parts,
      dataDir: path,
      detector: this.#detector,
      maxQueuedJobs: 100_000,
      resultTtlHours: 24,
      volumePatienceMs: 0,
      progressIntervalMs: 0,
      imageBackoffMs: 1,
      reserveBytes: 0,
      logger: silent,
      ...changes,
    });
    this.#jobs.start();
    this.#countReaders();
  }

  #countReaders(): void {
    const { service } = this.#jobs;
    const pages = service.imagePages.bind(service);
    const count = (by: number): void => {
      this.readers += by;
    };
    service.imagePages = async function* (jobId) {
      count(1);
      try {
        yield* pages(jobId);
      } finally {
        count(-1);
      }
    };
  }

  async #stop(): Promise<void> {
    const stopped = this.#jobs.stop(0);
    this.#starts.openAll(false);
    await stopped;
  }

  async #job(jobId: string): Promise<StoredJob> {
    return (await this.service.get(jobId, null)) as StoredJob;
  }
}
