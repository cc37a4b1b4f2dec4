/** JobService in memory: submits are instant, tests move the jobs on by hand. */
import { randomUUID } from 'node:crypto';
import { LatticeError, type ErrorCode } from '../../src/api/errors.js';
import type {
  Idempotency,
  ImageEntry,
  ImageFilter,
  ImageOutcome,
  ImageTally,
  Job,
  JobEvent,
  JobFilter,
  JobService,
  JobSpec,
  JobStatus,
  RetriedImages,
} from '../../src/jobs/job.js';
import type { JobEventName } from '../../src/api/events.js';
import type { WebhookDeliveryState } from '../../src/jobs/webhook-delivery.js';

interface Entry {
  job: Job;
  images: ImageEntry[];
}

function setOutcomes(entry: Entry, outcomes: (ImageOutcome | null)[]): void {
  entry.job.failedImages = outcomes.filter((outcome) => outcome?.status === 'error').length;
  entry.images = outcomes.map((outcome, index) => {
    const path = entry.images[index]?.path ?? '';
    return { index, path, outcome };
  });
}

/** After an attempt that failed, before the next one. */
export const pendingDelivery: WebhookDeliveryState = {
  deliveryId: 'msg_1',
  jobId: 'job_1',
  url: 'http://h/x?token=secret',
  host: 'h',
  attempt: 1,
  createdAt: 1.5,
  state: 'pending',
  nextAttemptAt: 6.5,
  lastStatus: 500,
  lastError: 'HTTP 500',
  attemptsMade: 8,
  attempts: [{ at: 2.5, durationMs: 12.5, status: 500, error: 'HTTP 500' }],
};

export const okOutcome = (classes: string[] = ['car']): ImageOutcome => ({
  status: 'ok',
  detections: classes.map((name, index) => ({
    box: [10, 20, 30 + index, 40],
    confidence: 0.9 - index / 10,
    class: name,
  })),
  image: { width: 640, height: 480 },
  timingsMs: { queue: 0.1, decode: 1, preprocess: 0.2, inference: 10, postprocess: 0.1 },
  processingTimeMs: 11.4,
  truncated: false,
});

export const errorOutcome = (code: ErrorCode): ImageOutcome => ({
  status: 'error',
  error: new LatticeError(code, 'It is not one.').toProblem(),
});

export class FakeJobs implements JobService {
  readonly specs: JobSpec[] = [];
  /** Stored events; `forget` drops the oldest. */
  readonly events: JobEvent[] = [];
  /** Set to make the store fail. */
  broken: LatticeError | null = null;
  /** Milliseconds that a submit takes, and whether its event comes before or after it returns. */
  submitMs = 0;
  eventFirst = true;
  imagesAPage = 2;
  /** Pages read so far by all readers; the one of number `brokenPage` fails. */
  pagesRead = 0;
  brokenPage = 0;
  /** Readers that have begun with pages and not ended. */
  readers = 0;
  #forgotten = 0;
  readonly #jobs = new Map<string, Entry>();
  readonly #keys = new Map<string, { fingerprint: string; jobId: string }>();
  readonly #listeners = new Set<(event: JobEvent) => void>();

  async submit(spec: JobSpec, idempotency?: Idempotency): Promise<{ job: Job; replayed: boolean }> {
    this.#check();
    const known = idempotency && this.#keys.get(idempotency.key);
    if (known !== undefined) {
      if (known.fingerprint !== idempotency?.fingerprint) {
        throw new LatticeError('idempotency_key_reused', 'Another body.');
      }
      return { job: this.#entry(known.jobId).job, replayed: true };
    }
    const job: Job = {
      jobId: randomUUID(),
      spec,
      status: 'pending',
      imageCount: spec.imagePaths.length,
      firstPath: spec.imagePaths[0] ?? '',
      finishedImages: 0,
      failedImages: 0,
      retryOf: null,
      submittedAt: Date.now() / 1000,
      startedAt: null,
      completedAt: null,
      workerId: '',
      error: null,
    };
    this.specs.push(spec);
    const images = spec.imagePaths.map((path, index) => ({ index, path, outcome: null }));
    this.#jobs.set(job.jobId, { job, images });
    if (idempotency) {
      this.#keys.set(idempotency.key, { fingerprint: idempotency.fingerprint, jobId: job.jobId });
    }
    if (this.eventFirst) this.emit('job_submitted', job);
    else {
      setTimeout(() => {
        this.emit('job_submitted', job);
      }, this.submitMs + 10);
    }
    if (this.submitMs > 0) await new Promise((resolve) => setTimeout(resolve, this.submitMs));
    return { job: { ...job }, replayed: false };
  }

  async retry(
    jobId: string,
    keyId: string | null,
    images: RetriedImages,
    idempotency?: Idempotency,
  ): Promise<{ job: Job; replayed: boolean }> {
    const { spec } = await this.get(jobId, keyId);
    const imagePaths = this.#entry(jobId)
      .images.filter(({ outcome }) => images === 'all' || outcome?.status !== 'ok')
      .map(({ path }) => path);
    if (imagePaths.length === 0) throw new LatticeError('nothing_to_retry', 'All done.');
    const { job, replayed } = await this.submit({ ...spec, imagePaths }, idempotency);
    const entry = this.#entry(job.jobId);
    entry.job.retryOf = jobId;
    return { job: { ...entry.job }, replayed };
  }

  repeated(_keyId: string | null, { key, fingerprint }: Idempotency): Promise<Job | null> {
    const known = this.#keys.get(key);
    const same = known?.fingerprint === fingerprint;
    return Promise.resolve(same ? this.#entry(known.jobId).job : null);
  }

  get(jobId: string, keyId: string | null): Promise<Job> {
    return Promise.resolve().then(() => {
      this.#check();
      const { job } = this.#entry(jobId);
      if (keyId !== null && job.spec.keyId !== keyId) throw notFound();
      return { ...job };
    });
  }

  images(jobId: string): Promise<ImageEntry[]> {
    return Promise.resolve([...this.#entry(jobId).images]);
  }

  async *imagePages(jobId: string): AsyncGenerator<ImageEntry[], void> {
    const entries = await this.images(jobId);
    this.readers += 1;
    try {
      for (let from = 0; from < entries.length; from += this.imagesAPage) {
        this.pagesRead += 1;
        if (this.pagesRead === this.brokenPage) {
          throw new LatticeError('storage_unavailable', 'Disk.');
        }
        yield entries.slice(from, from + this.imagesAPage);
      }
    } finally {
      this.readers -= 1;
    }
  }

  /** Of the filter only `outcome` and `className` are looked at. */
  filteredImages(
    { jobId, completedAt }: Job,
    { outcome, className }: ImageFilter,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<{ entries: ImageEntry[]; matching: number }> {
    const found = this.#entry(jobId).images.filter(
      (image) =>
        (outcome === undefined || outcome === outcomeOf(image, completedAt !== null)) &&
        (className === undefined || classesOf(image).includes(className)),
    );
    const entries = found.slice(offset, offset + limit);
    return Promise.resolve({ entries, matching: found.length });
  }

  tally({ jobId }: Job): Promise<ImageTally> {
    const { images } = this.#entry(jobId);
    const count = (name: string) =>
      images.filter((image) => image.outcome !== null && outcomeOf(image, false) === name).length;
    const classes = images.flatMap(classesOf);
    const boxes = [...new Set(classes)].map((name) => ({
      class: name,
      step: 18,
      boxes: classes.filter((each) => each === name).length,
    }));
    return Promise.resolve({
      found: count('found'),
      empty: count('empty'),
      failed: count('failed'),
      boxes,
    });
  }

  countByStatus(): Promise<Record<JobStatus, number>> {
    const counts = { pending: 0, running: 0, completed: 0, failed: 0 };
    for (const { job } of this.#jobs.values()) counts[job.status] += 1;
    return Promise.resolve(counts);
  }

  list(
    filter: JobFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<{ jobs: Job[]; nextCursor: string | null }> {
    const all = [...this.#jobs.values()]
      .map(({ job }) => job)
      .filter(
        (job) =>
          (filter.status?.includes(job.status) ?? true) &&
          (filter.jobType === undefined || filter.jobType === job.spec.jobType) &&
          (filter.keyId === undefined || filter.keyId === job.spec.keyId) &&
          job.submittedAt >= (filter.submittedAfter ?? 0) &&
          job.submittedAt <= (filter.submittedBefore ?? Infinity),
      )
      .reverse();
    const start = page.cursor === null ? 0 : Number(page.cursor);
    const end = start + page.limit;
    return Promise.resolve({
      jobs: all.slice(start, end),
      nextCursor: end < all.length ? String(end) : null,
    });
  }

  async cancel(jobId: string, keyId: string | null): Promise<Job> {
    const job = await this.get(jobId, keyId);
    if (job.status === 'completed' || job.status === 'failed') {
      throw new LatticeError('job_already_finished', `The job is ${job.status}.`);
    }
    this.fail(jobId, new LatticeError('cancelled', 'Cancelled by its owner.'));
    return this.get(jobId, keyId);
  }

  oldestPendingAt(): Promise<number | null> {
    const [oldest] = [...this.#jobs.values()].filter(({ job }) => job.status === 'pending');
    return Promise.resolve(oldest?.job.submittedAt ?? null);
  }

  counts(): Promise<{ pending: number; running: number; queuedImages: number }> {
    return Promise.resolve().then(() => {
      this.#check();
      const states = [...this.#jobs.values()].map(({ job }) => job.status);
      return {
        pending: states.filter((status) => status === 'pending').length,
        running: states.filter((status) => status === 'running').length,
        queuedImages: 0,
      };
    });
  }

  onEvent(listener: (event: JobEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  eventsAfter(seq: number, limit: number): Promise<{ events: JobEvent[]; gap: boolean }> {
    const events = this.events.filter((event) => event.seq > seq).slice(0, limit);
    return Promise.resolve({ events, gap: seq < this.#forgotten || seq > this.lastSeq() });
  }

  lastSeq(): number {
    return this.events.at(-1)?.seq ?? this.#forgotten;
  }

  forget(count: number): void {
    this.#forgotten = this.events.splice(0, count).at(-1)?.seq ?? this.#forgotten;
  }

  start(jobId: string, secondsAgo = 0): void {
    const { job } = this.#entry(jobId);
    job.status = 'running';
    job.workerId = 'worker-1';
    job.startedAt = Date.now() / 1000 - secondsAgo;
    this.emit('job_started', job);
  }

  progress(jobId: string, finished: number): void {
    const { job } = this.#entry(jobId);
    job.finishedImages = finished;
    this.emit('job_progress', job);
  }

  finish(jobId: string, outcomes: ImageOutcome[]): void {
    const entry = this.#entry(jobId);
    setOutcomes(entry, outcomes);
    this.#end(entry.job, 'completed', outcomes.length);
  }

  fail(jobId: string, error: LatticeError, outcomes?: (ImageOutcome | null)[]): void {
    const entry = this.#entry(jobId);
    if (outcomes) setOutcomes(entry, outcomes);
    entry.job.error = error.toProblem();
    this.#end(entry.job, 'failed', entry.images.filter(({ outcome }) => outcome !== null).length);
  }

  emit(name: JobEventName, job: Job): void {
    const stored = name !== 'job_progress';
    const event: JobEvent = {
      event: name,
      jobId: job.jobId,
      status: job.status,
      timestamp: Date.now() / 1000,
      seq: (this.events.at(-1)?.seq ?? this.#forgotten) + (stored ? 1 : 0),
      progress: job.finishedImages / job.imageCount,
      failedImages: job.failedImages,
      keyId: job.spec.keyId,
      ...(job.error === null ? {} : { error: job.error }),
    };
    if (stored) this.events.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  #end(job: Job, status: 'completed' | 'failed', finished: number): void {
    job.startedAt ??= Date.now() / 1000;
    job.completedAt = Date.now() / 1000;
    job.finishedImages = finished;
    job.status = status;
    this.emit(status === 'completed' ? 'job_completed' : 'job_failed', job);
  }

  #entry(jobId: string): Entry {
    const entry = this.#jobs.get(jobId);
    if (entry === undefined) throw notFound();
    return entry;
  }

  #check(): void {
    if (this.broken !== null) throw this.broken;
  }
}

function outcomeOf({ outcome }: ImageEntry, ended: boolean): string {
  if (outcome === null) return ended ? 'failed' : 'pending';
  if (outcome.status === 'error') return 'failed';
  return outcome.detections.length > 0 ? 'found' : 'empty';
}

function classesOf({ outcome }: ImageEntry): string[] {
  return outcome?.status === 'ok' ? outcome.detections.map((each) => each.class) : [];
}

function notFound(): LatticeError {
  return new LatticeError('job_not_found', 'No job has this id.');
}
