/**
 * The outcomes of a started job: stores them, one call at a time, and reports the progress. The next call stores those
 * that arrive meanwhile. No caller waits for the outcome of one image, so there is a delay between two calls: a sync
 * per image took 4 % of two cores.
 */
import { figuresOf, NO_FIGURES } from '../../api/job-figures.js';
import type { JobEvents } from '../job-events.js';
import { progressOf } from '../../store/job.js';
import type { NewOutcome, QueuedJob, StartedJob } from '../../store/job-records.js';
import type { QueueCounts } from '../queue-counts.js';
import type { ServiceStore } from '../../store/service-store.js';
import type { ImageEnd } from './image-run.js';
import type { Patience } from './patience.js';
import type { TakenOver } from './reuse.js';

/** Pause between two calls of the store. After a crash at most the images of this time run again. */
const BATCH_DELAY_MS = 50;

export interface OutcomeParts {
  store: ServiceStore;
  counts: QueueCounts;
  patience: Patience;
  events: JobEvents;
  /** Pause between two `job_progress` events of a job. */
  progressIntervalMs: number;
  /** Called with the number of images that took over a stored result. */
  onReused: (images: number) => void;
}

type KnownEnd = Extract<ImageEnd, { outcome: unknown }>;

export class JobOutcomes {
  readonly #job: QueuedJob;
  readonly #parts: OutcomeParts;
  #fencingToken = 0;
  #keyId: string | null = null;
  #watch: string | null = null;
  #finishedImages = 0;
  #figures = NO_FIGURES;
  #unsaved: NewOutcome[] = [];
  /** The worker that ran the newest of them. */
  #workerId = '';
  #saving = false;
  /** When outcomes were last stored, and when `job_progress` was last emitted, by the monotonic clock. */
  #savedAt = -Infinity;
  #reportedAt = -Infinity;
  /** Emits the next `job_progress`. */
  #report: NodeJS.Timeout | undefined;
  /** Ends the wait for more outcomes. */
  #endWait: () => void = () => undefined;
  #ended = false;

  constructor(job: QueuedJob, parts: OutcomeParts) {
    this.#job = job;
    this.#parts = parts;
  }

  begin({ job, fencingToken }: StartedJob): void {
    this.#fencingToken = fencingToken;
    this.#keyId = job.spec.keyId;
    this.#watch = job.watch;
    this.#finishedImages = job.finishedImages;
    this.#figures = figuresOf(job);
  }

  get needsSave(): boolean {
    return this.#unsaved.length > 0 && !this.#saving;
  }

  add(index: number, { outcome, workerId, taken, keys, found, look, descriptors }: KnownEnd): void {
    const ok = outcome.status === 'ok';
    const more = { taken, keys, found, look, descriptors };
    this.#add({ index, ok, outcome: JSON.stringify(outcome), ...more }, workerId);
  }

  /** The image did not run. */
  takeOver(index: number, { workerId, ...result }: TakenOver): void {
    this.#add({ index, ok: true, ...result }, workerId);
  }

  #add(outcome: NewOutcome, workerId: string): void {
    this.#workerId = workerId;
    this.#unsaved.push(outcome);
    if (this.#isComplete) this.#endWait();
  }

  /**
   * Resolves once every outcome is stored; true when the job is over for this process. Rejects as `Patience.untilDone`
   * does.
   */
  async save(): Promise<boolean> {
    const { store, counts, patience, onReused } = this.#parts;
    this.#saving = true;
    let over = false;
    while (this.#unsaved.length > 0 && !over) {
      await this.#batch();
      if (this.#unsaved.length === 0) break; // ended meanwhile
      const batch = this.#unsaved;
      this.#unsaved = [];
      const recorded = await patience.untilDone('record', () =>
        store.record(
          this.#job.number,
          this.#fencingToken,
          batch,
          this.#workerId,
          Date.now() / 1000,
        ),
      );
      if (recorded === null) break;
      this.#savedAt = performance.now();
      over = recorded.value?.terminal ?? true;
      // Cancelled or removed meanwhile: what is unsaved is dropped.
      if (recorded.value === null) break;
      const { stored, finishedImages, reusedImages, terminal } = recorded.value;
      counts.recorded(stored);
      onReused(reusedImages - this.#figures.reusedImages);
      this.#finishedImages = finishedImages;
      this.#figures = figuresOf(recorded.value);
      if (terminal) counts.finished();
      else this.#reportProgress();
    }
    this.#saving = false;
    return over;
  }

  /** Drops what is not stored. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#report);
    this.#unsaved = [];
    this.#endWait();
  }

  /** Whether the job is finished, counting the outcomes that are not stored yet. */
  get #isComplete(): boolean {
    return this.#finishedImages + this.#unsaved.length >= this.#job.imageCount;
  }

  async #batch(): Promise<void> {
    const wait = this.#savedAt + BATCH_DELAY_MS - performance.now();
    if (wait <= 0 || this.#isComplete) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The first at once, then at most one per interval, each with the newest state. */
  #reportProgress(): void {
    if (this.#ended || this.#report !== undefined) return;
    const wait = this.#reportedAt + this.#parts.progressIntervalMs - performance.now();
    if (wait <= 0) this.#emitProgress();
    else
      this.#report = setTimeout(() => {
        this.#emitProgress();
      }, wait).unref();
  }

  #emitProgress(): void {
    this.#report = undefined;
    this.#reportedAt = performance.now();
    const { events } = this.#parts;
    const { jobId, imageCount } = this.#job;
    events.emit({
      event: 'job_progress',
      jobId,
      status: 'running',
      timestamp: Date.now() / 1000,
      seq: events.lastSeq,
      progress: progressOf({ finishedImages: this.#finishedImages, imageCount }),
      ...this.#figures,
      keyId: this.#keyId,
      watch: this.#watch,
    });
  }
}
