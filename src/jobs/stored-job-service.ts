/** `JobService` on a durable store and a runner. */
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { LatticeError } from '../api/errors.js';
import type { DetectorStats } from '../api/statistics.js';
import { Semaphore } from '../base/semaphore.js';
import type {
  Idempotency,
  ImageEntry,
  ImageFilter,
  ImageOutcome,
  ImageTally,
  Job,
  JobFilter,
  JobService,
  JobSpec,
  JobStatus,
  RetriedImages,
} from './job.js';
import type { JobEvents } from './job-events.js';
import type { JobRunner } from './runner/job-runner.js';
import type { NewJob, StoredImage, StoredJob, SubmitOutcome } from './job-records.js';
import type { JobStore } from './store/job-store.js';
import type { QueueCounts } from './queue-counts.js';

export interface ServiceParts {
  store: JobStore;
  runner: JobRunner;
  events: JobEvents;
  counts: QueueCounts;
  /** The disk has too little free space for the results of new jobs. */
  nearlyFull: () => boolean;
  maxQueuedJobs: number;
  stats: () => DetectorStats;
  stopping: () => boolean;
}

const IMAGES_PER_READ = 1000;

export class StoredJobService implements JobService {
  readonly #parts: ServiceParts;
  readonly #turns = new Semaphore(1);

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async submit(spec: JobSpec, idempotency?: Idempotency): Promise<{ job: Job; replayed: boolean }> {
    return this.#take(idempotency, (how) => this.#parts.store.submit({ ...how, spec }));
  }

  async retry(
    jobId: string,
    keyId: string | null,
    images: RetriedImages,
    idempotency?: Idempotency,
  ): Promise<{ job: Job; replayed: boolean }> {
    return this.#take(idempotency, async (how) => {
      const outcome = await this.#parts.store.retry({ ...how, retryOf: jobId, keyId, images });
      if (outcome.kind === 'missing') throw notFound();
      if (outcome.kind === 'not_ended') {
        const detail = 'Only a job that has ended can be retried.';
        throw new LatticeError('job_not_finished', detail, { retryAfterS: 1 });
      }
      if (outcome.kind === 'nothing_failed') {
        throw new LatticeError('nothing_to_retry', 'Every image of the job was processed.');
      }
      return outcome;
    });
  }

  async #take(
    idempotency: Idempotency | undefined,
    store: (how: Omit<NewJob, 'spec'>) => Promise<SubmitOutcome>,
  ): Promise<{ job: Job; replayed: boolean }> {
    const { runner, counts } = this.#parts;
    const refusal = this.#refusal();
    if (refusal !== null && idempotency === undefined) throw refusal;
    const release = counts.reserve();
    try {
      const outcome = await store({
        jobId: newJobId(),
        submittedAt: Date.now() / 1000,
        idempotency: idempotency ?? null,
        admit: refusal === null,
      });
      if (outcome.kind === 'key_reused') throw keyReused();
      if (outcome.kind === 'not_admitted') throw refusal ?? this.#queueFull();
      const { job } = outcome;
      const replayed = outcome.kind === 'replayed';
      if (!replayed) {
        counts.submitted(job);
        const { number, jobId, submittedAt, imageCount } = job;
        const { priority } = job.spec;
        runner.enqueue({ number, jobId, priority, submittedAt, imageCount });
      }
      return { job, replayed };
    } finally {
      release();
    }
  }

  async repeated(keyId: string | null, idempotency: Idempotency): Promise<Job | null> {
    return this.#parts.store.repeated(keyId, idempotency);
  }

  async get(jobId: string, keyId: string | null): Promise<Job> {
    return this.#find(jobId, keyId);
  }

  async images(jobId: string): Promise<ImageEntry[]> {
    const entries: ImageEntry[] = [];
    for await (const page of this.imagePages(jobId)) for (const entry of page) entries.push(entry);
    return entries;
  }

  async *imagePages(jobId: string): AsyncGenerator<ImageEntry[], void> {
    const { number, imageCount } = await this.#find(jobId, null);
    for (let from = 0; from < imageCount;) {
      const images = await this.#parts.store.images(number, from, IMAGES_PER_READ);
      const next = (images.at(-1)?.index ?? -1) + 1;
      // The sweep removes images in no order: a gap means that the job was removed while it was read.
      if (images.length === 0 || next - from !== images.length) throw notFound();
      await this.#ownTurn();
      yield images.map(toEntry);
      from = next;
    }
  }

  async filteredImages(
    { jobId }: Job,
    filter: ImageFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ entries: ImageEntry[]; matching: number }> {
    const job = await this.#find(jobId, null);
    const { number, imageCount, completedAt } = job;
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    const found = isFiltered
      ? await this.#parts.store.filteredImages(
          { number, imageCount, ended: completedAt !== null },
          filter,
          offset,
          limit,
        )
      : { images: await this.#parts.store.images(number, offset, limit), matching: imageCount };
    await this.#ownTurn();
    return { entries: found.images.map(toEntry), matching: found.matching };
  }

  /**
   * A turn of the event loop of its own: two pages are never parsed in one, however many callers there are. A message
   * port can deliver a thousand messages per turn.
   */
  #ownTurn(): Promise<void> {
    return this.#turns.run(() => setImmediate());
  }

  async tally({ jobId }: Job): Promise<ImageTally> {
    const { number } = await this.#find(jobId, null);
    return this.#parts.store.tally(number);
  }

  countByStatus(filter: JobFilter): Promise<Record<JobStatus, number>> {
    return this.#parts.store.countByStatus(filter);
  }

  async list(
    filter: JobFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<{ jobs: Job[]; nextCursor: string | null }> {
    const before = page.cursor === null ? null : decodeCursor(page.cursor);
    const found = await this.#parts.store.list(filter, page.limit + 1, before);
    const shown = found.slice(0, page.limit);
    const last = shown.at(-1);
    const more = found.length > page.limit && last !== undefined;
    return {
      jobs: shown,
      nextCursor: more ? encodeCursor(last.number) : null,
    };
  }

  async cancel(jobId: string, keyId: string | null): Promise<Job> {
    const { store, runner, counts } = this.#parts;
    const outcome = await store.cancel(jobId, keyId, Date.now() / 1000);
    if (outcome.kind === 'missing') throw notFound();
    if (outcome.kind === 'already_finished') {
      throw new LatticeError('job_already_finished', 'The job has already ended.');
    }
    counts.cancelled(outcome);
    runner.cancelled(outcome);
    return outcome.job;
  }

  counts(): Promise<{ pending: number; running: number; queuedImages: number }> {
    return Promise.resolve(this.#parts.counts.current);
  }

  oldestPendingAt(): Promise<number | null> {
    return this.#parts.store.oldestPendingAt();
  }

  onEvent(listener: Parameters<JobService['onEvent']>[0]): () => void {
    return this.#parts.events.listen(listener);
  }

  eventsAfter(seq: number, limit: number): ReturnType<JobService['eventsAfter']> {
    return this.#parts.store.events(seq, limit);
  }

  lastSeq(): number {
    return this.#parts.events.lastSeq;
  }

  /** Why new jobs are refused at the moment. */
  #refusal(): LatticeError | null {
    const { stopping, nearlyFull, counts, maxQueuedJobs } = this.#parts;
    if (stopping()) return new LatticeError('shutting_down', 'The service is stopping.');
    if (nearlyFull()) {
      const detail =
        'The disk of the job store is nearly full; no job is accepted until space is free.';
      return new LatticeError('storage_unavailable', detail, { retryAfterS: 30 });
    }
    return counts.unfinished >= maxQueuedJobs ? this.#queueFull() : null;
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

  async #find(jobId: string, keyId: string | null): Promise<StoredJob> {
    const job = await this.#parts.store.find(jobId);
    if (job === null || (keyId !== null && job.spec.keyId !== keyId)) throw notFound();
    return job;
  }
}

function toEntry({ index, path, outcome }: StoredImage): ImageEntry {
  return {
    index,
    path,
    outcome: outcome === null ? null : (JSON.parse(outcome) as ImageOutcome),
  };
}

/** 96 random bits after 48 of the time: neighbours in time are neighbours in the index. */
function newJobId(): string {
  const bytes = randomBytes(18);
  bytes.writeUIntBE(Date.now(), 0, 6);
  return `job_${bytes.toString('base64url')}`;
}

function notFound(): LatticeError {
  return new LatticeError('job_not_found', 'There is no such job.');
}

function keyReused(): LatticeError {
  return new LatticeError(
    'idempotency_key_reused',
    'The Idempotency-Key was used with another body before.',
  );
}

/** Where a list of jobs continues: opaque to callers, the number of a job inside. */
function encodeCursor(jobNumber: number): string {
  return Buffer.from(`before:${jobNumber}`).toString('base64url');
}

/** Throws `validation_failed` on text that `encodeCursor` did not make. */
function decodeCursor(cursor: string): number {
  const match = /^before:([1-9]\d{0,15})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (match?.[1] === undefined || encodeCursor(Number(match[1])) !== cursor) {
    const detail = 'The cursor is not one that a list answered.';
    throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
  }
  return Number(match[1]);
}
