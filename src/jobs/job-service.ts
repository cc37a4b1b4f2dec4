/** The calls of HTTP, WebSocket and CLI on jobs: a durable store and a runner. */
import { randomBytes } from 'node:crypto';
import { LatticeError, serviceStopping } from '../api/errors.js';
import type { JobLabels } from '../api/job-labels.js';
import type { Allowances } from '../store/allowances.js';
import type { DetectorStats } from '../api/schemas/statistics.js';
import { pageOf, readCursor, writeCursor } from '../api/schemas/list-page.js';
import type { JobFilter } from '../api/job-filters.js';
import type { ImageFilter, ImageSort, JobSort, JobStatus } from '../api/job-values.js';
import {
  type ClassCounts,
  type Idempotency,
  type ImageCounts,
  type ImageEntry,
  type ImageState,
  type ImageTally,
  type Job,
  type JobEvent,
  type JobOrigin,
  type JobSpec,
  type RetriedRun,
  withoutOutcome,
} from '../store/job.js';
import type { Question } from '../api/question.js';
import { AskedImages } from './asked-images.js';
import { countEvents, countSums, findPlaces, type CountSums } from './count-sums.js';
import { QuestionViews } from './question-views.js';
import type { CountScope } from '../store/count-rows.js';
import type { PictureRule } from '../store/cameras/camera-pictures.js';
import type { CountedEvents, EventRule } from '../store/cameras/event-rows.js';
import type { FoundPlaces } from '../store/cameras/place-rows.js';
import { Dismissals } from './dismissals.js';
import { ImagePages } from './image-pages.js';
import type { JobEvents } from './job-events.js';
import type { JobRunner } from './runner/job-runner.js';
import type {
  JobAllowances,
  JobCounts,
  ListPosition,
  Submission,
  Submitted,
} from '../store/job-records.js';
import type { ServiceStore } from '../store/service-store.js';
import type { Views } from '../views/views.js';
import type { StoreAllowances } from '../store/store-allowances.js';
import type { QueueCounts } from './queue-counts.js';
import { toCounts, toEntry, toState, type JobImages } from './stored-images.js';
import type { StoredWatch, WatchedFile } from '../store/watched.js';

export interface ServiceParts {
  store: ServiceStore;
  runner: JobRunner;
  events: JobEvents;
  counts: QueueCounts;
  /** Limits per API key. */
  allowances: Allowances;
  ofStore: StoreAllowances;
  /** A key was refused, since it has all that it may take. */
  keyIsFull: () => void;
  /** Why there is no room for the results of new jobs of this key; null where there is. */
  noRoom: (keyId: string | null) => LatticeError | null;
  /** Jobs were removed: their images are left to be. */
  removed: () => void;
  maxQueuedJobs: number;
  views: Pick<Views, 'get'>;
  /** Score floor of new jobs. */
  scoreFloor: number;
  stats: () => DetectorStats;
  stopping: () => boolean;
}

const IMAGES_PER_READ = 1000;
/** Every method rejects with a `LatticeError` only; with `job_not_found` also for another owner's job. */
export class JobService implements JobImages {
  readonly #parts: ServiceParts;
  readonly #pages = new ImagePages();
  /** Places that are left out of counts. */
  readonly dismissals: Dismissals;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.dismissals = new Dismissals(parts.store);
  }

  /**
   * Resolves once the job is on disk. With an idempotency key, a repeat gives the first job with `replayed`;
   * another fingerprint rejects with `idempotency_key_reused`.
   */
  submit(spec: JobSpec, idempotency?: Idempotency): Promise<Submitted> {
    const { keyId } = spec;
    return this.#take(keyId, idempotency, (how) => this.#parts.store.submit({ ...how, spec }));
  }

  /**
   * Submits images of an ended job as a new job with the same settings, but for the model where one is named: all, or
   * those that failed and, in a job that was cancelled, those that had no turn. Idempotency as for `submit`. Rejects
   * with `job_not_found`, `job_not_finished` or `nothing_to_retry`.
   */
  retry(
    retryOf: string,
    keyId: string | null,
    retried: RetriedRun,
    idempotency?: Idempotency,
    origin?: JobOrigin,
  ): Promise<Submitted> {
    const { store } = this.#parts;
    return this.#take(keyId, idempotency, (how) =>
      store.retry({ ...how, ...retried, retryOf, keyId, origin }),
    );
  }

  /** Submits files that a watch has found; the ledger of the watch has them as soon as the job is on disk. */
  submitFiles(
    { number: watch, owner }: Pick<StoredWatch, 'number' | 'owner'>,
    files: readonly WatchedFile[],
  ): Promise<Submitted> {
    const keyId = owner === '' ? null : owner;
    return this.#take(keyId, undefined, (how) =>
      this.#parts.store.submitFiles({ ...how, watch, files }),
    );
  }

  async #take(
    keyId: string | null,
    idempotency: Idempotency | undefined,
    store: (how: Submission) => Promise<Submitted | null>,
  ): Promise<Submitted> {
    const { runner, counts, scoreFloor } = this.#parts;
    const refusal = this.#refusal(keyId);
    if (refusal !== null && idempotency === undefined) throw refusal;
    const release = counts.reserve();
    try {
      const submitted = await store({
        jobId: newJobId(),
        submittedAt: Date.now() / 1000,
        idempotency: idempotency ?? null,
        admit: refusal === null,
        allowed: this.#allowedTo(keyId),
        scoreFloor,
      });
      if (submitted === null) throw refusal ?? this.#queueFull();
      const { job, replayed } = submitted;
      if (!replayed) {
        counts.submitted(job);
        const { number, jobId, submittedAt, imageCount } = job;
        const { priority } = job.spec;
        // The caller is answered first: its start is much work, and no part of the promise.
        setImmediate(() => {
          runner.enqueue({ number, jobId, priority, submittedAt, imageCount });
        });
      }
      return submitted;
    } catch (thrown) {
      throw this.#noted(thrown);
    } finally {
      release();
    }
  }

  /** Null: what the service has. */
  #allowedTo(keyId: string | null): JobAllowances | null {
    const { allowances, ofStore, counts, maxQueuedJobs } = this.#parts;
    const [jobs, store] = [allowances.of('jobs', keyId), ofStore(keyId)];
    if (jobs === null && store === null) return null;
    // The place of this job is reserved already.
    return { jobs, store, freeJobs: maxQueuedJobs - counts.unfinished + 1 };
  }

  #noted(thrown: unknown): unknown {
    if (thrown instanceof LatticeError && thrown.code === 'quota_exceeded') this.#parts.keyIsFull();
    return thrown;
  }

  /** The job that an earlier submission with this key and body made; null when there is none. */
  repeated(keyId: string | null, idempotency: Idempotency): Promise<Job | null> {
    return this.#parts.store.repeated(keyId, idempotency);
  }

  get(jobId: string, keyId: string | null): Promise<Job> {
    return this.#parts.store.find(jobId, keyId);
  }

  /** All entries in input order, for jobs of a few images. */
  async images(jobId: string): Promise<ImageEntry[]> {
    const entries: ImageEntry[] = [];
    for await (const page of this.imagePages(jobId)) for (const entry of page) entries.push(entry);
    return entries;
  }

  /**
   * All entries in input order, in short pages. The iterator reads the next page on demand.
   * Rejects with `job_not_found` when the job is removed before the last page.
   */
  async *imagePages(jobId: string): AsyncGenerator<ImageEntry[], void> {
    const { store } = this.#parts;
    const job = await store.find(jobId, null);
    for await (const page of this.#pages.all(job, IMAGES_PER_READ, (...part) =>
      store.images(...part),
    )) {
      yield page.map(toEntry);
    }
  }

  /** Like `imagePages`, for the counts of the images that have an outcome. */
  async *countPages(jobId: string): AsyncGenerator<ImageCounts[], void> {
    const { store } = this.#parts;
    const job = await store.find(jobId, null);
    for await (const page of this.#pages.all(job, IMAGES_PER_READ, (...part) =>
      store.imageCounts(...part),
    )) {
      yield page.filter(({ failed }) => failed !== null).map(toCounts);
    }
  }

  /** Like `countPages`, for all images. */
  async *statePages(jobId: string): AsyncGenerator<ImageState[], void> {
    const { store } = this.#parts;
    const job = await store.find(jobId, null);
    for await (const page of this.#pages.all(job, IMAGES_PER_READ, (...part) =>
      store.imageCounts(...part),
    )) {
      yield page.map((image) => toState(image, job));
    }
  }

  /** The images at these places of the input, see `ImagePages.at`. */
  async imagesAt({ jobId }: Job, indexes: readonly number[]): Promise<ImageEntry[]> {
    const { store } = this.#parts;
    const job = await store.find(jobId, null);
    const images = await this.#pages.at(job, indexes, (...part) => store.imagesAt(...part));
    return images.map(toEntry);
  }

  /**
   * The images of a job that pass the filter, in input order, from their `offset`th on: at most `limit`, fewer if they
   * have many boxes, none only at the end. By margin: those with a box, the one with the box nearest to its threshold
   * first. `matching`: how many there are in the whole job.
   */
  async filteredImages(
    { jobId, spec }: Job,
    filter: ImageFilter,
    { offset, limit, sort = 'input' }: { offset: number; limit: number; sort?: ImageSort },
  ): Promise<{ entries: ImageEntry[]; matching: number }> {
    const { number, imageCount, completedAt } = await this.#parts.store.find(jobId, null);
    const isFiltered =
      sort !== 'input' || Object.values(filter).some((value) => value !== undefined);
    const found = isFiltered
      ? await this.#parts.store.filteredImages(
          { number, imageCount, without: withoutOutcome({ completedAt }) },
          filter,
          offset,
          limit,
          sort === 'margin' ? spec.options : undefined,
        )
      : { images: await this.#parts.store.images(number, offset, limit), matching: imageCount };
    await this.#pages.ownTurn();
    return { entries: found.images.map(toEntry), matching: found.matching };
  }

  async countSums(jobId: string, rule: PictureRule | null = null): Promise<CountSums> {
    const { store } = this.#parts;
    const { number } = await store.find(jobId, null);
    return countSums(store, { jobs: number }, null, rule);
  }

  async countEvents(jobId: string, rule: EventRule): Promise<CountedEvents> {
    const { store } = this.#parts;
    const { number } = await store.find(jobId, null);
    return countEvents(store, { jobs: number }, rule, null);
  }

  /** Counts over jobs, by the question of each or by another one. Rejects with `view_not_found`. */
  async countsOf(
    scope: CountScope,
    rule: PictureRule,
    question: Question | null,
    keyId: string | null,
  ): Promise<CountSums> {
    return countSums(this.#parts.store, scope, await this.#viewsOf(rule, question, keyId), rule);
  }

  /** Events over jobs, like `countsOf`. */
  async eventsOf(
    scope: CountScope,
    rule: EventRule,
    question: Question | null,
    keyId: string | null,
  ): Promise<CountedEvents> {
    return countEvents(this.#parts.store, scope, rule, await this.#viewsOf(rule, question, keyId));
  }

  /** Places over jobs, like `countsOf`. */
  async placesOf(
    scope: CountScope,
    camera: PictureRule['camera'],
    question: Question | null,
    keyId: string | null,
  ): Promise<FoundPlaces> {
    const { store, views } = this.#parts;
    const opened = await QuestionViews.open(views, question ?? {}, keyId);
    return findPlaces(store, scope, { camera, static: 'only' }, opened);
  }

  /** Null: each job's own counts are taken as they are stored. */
  async #viewsOf(
    rule: PictureRule,
    question: Question | null,
    keyId: string | null,
  ): Promise<QuestionViews | null> {
    if (question === null && rule.static === 'include') return null;
    return QuestionViews.open(this.#parts.views, question ?? {}, keyId);
  }

  /** Counts of the images that have an outcome so far. */
  async tally({ jobId }: Job): Promise<ImageTally> {
    const { number } = await this.#parts.store.find(jobId, null);
    return this.#parts.store.tally(number);
  }

  /**
   * Reads that ask another question of the boxes that jobs keep, and with a rule which of them stand. Rejects with
   * `view_not_found`.
   */
  asking(
    question: Question,
    keyId: string | null,
    rule: PictureRule | null = null,
  ): Promise<AskedImages> {
    return AskedImages.open({ ...this.#parts, pages: this.#pages }, { question, rule }, keyId);
  }

  /** Jobs in each state, of those that the filter finds whatever its `status`. */
  countByStatus(filter: JobFilter): Promise<Record<JobStatus, number>> {
    return this.#parts.store.countByStatus(filter);
  }

  async list(
    filter: JobFilter,
    { limit, cursor, sort = 'submitted' }: { limit: number; cursor: string | null; sort?: JobSort },
  ): Promise<{ jobs: Job[]; nextCursor: string | null }> {
    const after =
      cursor === null
        ? null
        : readCursor(cursor, `a list sorted by ${sort}`, (parts) => positionOf(parts, sort));
    const found = await this.#parts.store.list(filter, limit + 1, after, sort);
    const { shown, nextCursor } = pageOf(found, limit, ({ position }) =>
      writeCursor([sort, position.number, position.key]),
    );
    return { jobs: shown.map(({ job }) => job), nextCursor };
  }

  /** Boxes of each of these jobs by class so far, most first. */
  classCounts(jobs: readonly Job[]): Promise<ClassCounts[]> {
    return this.#parts.store.classCounts(jobs.map(({ jobId }) => jobId));
  }

  /** Changes the given labels of a job, also of one that runs or has ended. */
  relabel(jobId: string, keyId: string | null, changes: Partial<JobLabels>): Promise<Job> {
    const { store, ofStore } = this.#parts;
    return store.relabel(jobId, keyId, changes, Date.now() / 1000, ofStore(keyId));
  }

  /** Removes an ended job and all that it has; rejects with `job_not_finished`. */
  async remove(jobId: string, keyId: string | null): Promise<void> {
    await this.#parts.store.remove(jobId, keyId);
    this.#parts.removed();
  }

  /** Ends the job `failed` with code `cancelled`; rejects with `job_already_finished`. */
  async cancel(jobId: string, keyId: string | null): Promise<Job> {
    const { store, runner, counts } = this.#parts;
    const ended = await store.cancel(jobId, keyId, Date.now() / 1000);
    counts.endedEarly(ended);
    runner.cancelled(ended.job.number);
    return ended.job;
  }

  counts(): Promise<JobCounts> {
    return Promise.resolve(this.#parts.counts.current);
  }

  /** When the oldest job that has not started was submitted, in Unix seconds; null when there is none. */
  oldestPendingAt(): Promise<number | null> {
    return this.#parts.store.oldestPendingAt();
  }

  /** Listeners get every event after its commit, in `seq` order; a throwing listener is logged and kept. */
  onEvent(listener: (event: JobEvent) => void): () => void {
    return this.#parts.events.listen(listener);
  }

  /** Stored events after `seq`, oldest first; `gap` when older ones are already gone. */
  eventsAfter(seq: number, limit: number): Promise<{ events: JobEvent[]; gap: boolean }> {
    return this.#parts.store.events(seq, limit);
  }

  /** Number of the newest stored event, of this process or an earlier one; 0 before the first. */
  lastSeq(): number {
    return this.#parts.events.lastSeq;
  }

  /** Why new jobs are refused at the moment. */
  #refusal(keyId: string | null): LatticeError | null {
    const { stopping, noRoom, counts, maxQueuedJobs } = this.#parts;
    if (stopping()) return serviceStopping();
    return noRoom(keyId) ?? (counts.unfinished >= maxQueuedJobs ? this.#queueFull() : null);
  }

  /** The time in which the images of one job are finished. */
  #queueFull(): LatticeError {
    const { counts, maxQueuedJobs, stats } = this.#parts;
    const { pending, running, queuedImages } = counts.current;
    const { imagesPerSecond } = stats();
    const imagesPerJob = queuedImages / Math.max(1, pending + running);
    const seconds = imagesPerSecond > 0 ? Math.ceil(imagesPerJob / imagesPerSecond) : 5;
    return new LatticeError('queue_full', `The queue holds ${maxQueuedJobs} unfinished jobs.`, {
      retryAfterS: Math.min(3600, Math.max(1, seconds)),
    });
  }
}

/** 96 random bits after 48 of the time: neighbours in time are neighbours in the index. */
function newJobId(): string {
  const bytes = randomBytes(18);
  bytes.writeUIntBE(Date.now(), 0, 6);
  return `job_${bytes.toString('base64url')}`;
}

/** The position at which a list of jobs continues: opaque to callers, with the position of the last job inside. */
function positionOf(parts: readonly unknown[], sort: JobSort): ListPosition | null {
  const [of, number, key] = parts;
  if (parts.length !== 3 || of !== sort) return null;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 1) return null;
  if (key !== null && typeof key !== 'string' && typeof key !== 'number') return null;
  return { key, number };
}
