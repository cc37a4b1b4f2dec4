/**
 * Feeds the images of all jobs to the detector, the most urgent first, and stores their outcomes. Holds few
 * images of a job at a time; the others stay on disk. Runs on the main thread; nothing here blocks.
 */
import { ActiveJob, type WaitingJob } from './active-job.js';
import { FlightWindow } from './flight-window.js';
import { DEATHS_TO_STOP, poisonOutcome, runImage, type ImageRunner } from './image-run.js';
import type { ImageOutcome } from '../job.js';
import type { CancelOutcome, QueuedJob, WaitingImage } from '../job-records.js';
import type { JobStore } from '../store/job-store.js';
import { OpenWork } from './open-work.js';
import { OutcomeSaver } from './outcome-saver.js';
import type { Patience } from './patience.js';
import type { ProgressReports } from './progress-reports.js';
import type { QueueCounts } from '../queue-counts.js';
import type { SetAsideTimes } from './set-aside.js';
import { runSuspects, SUSPECT_DEADLINE_MS } from './suspects.js';
import { WorkOrder } from './work-order.js';
import { toLatticeError } from '../../api/errors.js';

export interface RunnerParts extends Omit<ImageRunner, 'stopping'> {
  store: JobStore;
  counts: QueueCounts;
  progress: ProgressReports;
  patience: Patience;
  /** Waiting time that raises a job by one priority. */
  ageingSeconds: number;
  volumeTimes: SetAsideTimes;
}

const READ_AHEAD = 64;
/** Images ready to hand out while the start of the next job is being stored. */
const LEAST_SUPPLY = 16;
/** Aborted calls settle at once; one that hangs is not waited for. */
const ABORT_MS = 250;

export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #images: ImageRunner;
  readonly #order: WorkOrder;
  readonly #saver: OutcomeSaver;
  readonly #window: FlightWindow;
  readonly #work = new OpenWork();
  #quarantine = true;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#saver = new OutcomeSaver(parts);
    this.#order = new WorkOrder(parts.ageingSeconds);
    this.#window = new FlightWindow(parts.detector);
    this.#images = { ...parts, stopping: () => this.#stopping };
  }

  /** Completions that were refused because another process run holds the job. */
  get staleRefused(): number {
    return this.#saver.staleRefused;
  }

  /**
   * Waits for `chargeCrash`, which finds the images that were in hand at a crash. Runs those one by one, then all jobs.
   * A defect in `chargeCrash` belongs to no job: it ends the process.
   */
  start(chargeCrash: () => Promise<void>): void {
    const start = async () => {
      const charged = await this.#parts.patience.insist('chargeDeaths', chargeCrash);
      if (charged === null) return;
      await this.#runSuspects();
      this.#quarantine = false;
      this.#pump();
    };
    this.#work.add(start());
  }

  enqueue(job: QueuedJob): void {
    this.#order.waiting.add(job);
    this.#pump();
  }

  /** The store has ended the job: takes its images out of the detector. */
  cancelled({ job }: Extract<CancelOutcome, { kind: 'cancelled' }>): void {
    this.#order.waiting.take(job.number);
    const active = this.#order.active.get(job.number);
    if (active !== undefined) this.#end(active);
  }

  /** Starts no image. Those in the detector may finish until `deadlineMs`; the others run after the next start. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    await this.#work.settled(deadlineMs);
    this.#parts.patience.end();
    for (const job of [...this.#order.active.values()]) job.end();
    await this.#work.settled(ABORT_MS);
  }

  #pump(): void {
    if (this.#stopping || this.#quarantine || this.#parts.patience.failing) return;
    for (;;) {
      const queued = this.#order.takeToStart(Math.max(LEAST_SUPPLY, 2 * this.#window.size));
      if (queued === null) break;
      this.#work.add(this.#startJob(queued).then(() => undefined));
    }
    for (;;) {
      const next = this.#order.next();
      if (next === null || !this.#window.isOpen(next.rank.level)) return;
      const { job, rank } = next;
      this.#order.handedOut(rank);
      const image = job.ahead.shift();
      if (image !== undefined) this.#handOut(job, image, rank.level);
      if (job.ahead.length < READ_AHEAD / 2) this.#readAhead(job);
    }
  }

  /** A defect of the program in the work for a job fails that job: it neither repeats for ever nor stays `running`. */
  #workOn(job: ActiveJob, work: () => Promise<void>): void {
    this.#work.add(work().catch((error: unknown) => this.#fail(job, error)));
  }

  /** Outcomes that are on disk are kept. */
  async #fail(job: ActiveJob, thrown: unknown): Promise<void> {
    const { store, counts, patience, logger } = this.#parts;
    const error = toLatticeError(thrown);
    const { stack, cause } = error;
    logger.error({ jobId: job.jobId, stack, cause: String(cause) }, 'job failed unexpectedly');
    const ended = await patience.insist('cancel', () =>
      store.cancel(job.jobId, null, Date.now() / 1000, error.toProblem()),
    );
    if (ended?.value.kind === 'cancelled') counts.cancelled(ended.value);
    this.#end(job);
    this.#pump();
  }

  /** Null when the job is not pending any more, or has failed. */
  async #startJob(queued: WaitingJob): Promise<ActiveJob | null> {
    const { store, detector, counts, patience } = this.#parts;
    const job = new ActiveJob(queued, this.#parts.volumeTimes, () => {
      this.#pump();
    });
    this.#order.active.set(job.number, job);
    const start = async () => {
      const started = await patience.insist('start', () =>
        store.start(job.number, detector.workerId, Date.now() / 1000),
      );
      if (started?.value) counts.started();
      return started?.value ?? null;
    };
    try {
      // Both calls travel in one message, so the images arrive with the start.
      const [started, images] = await Promise.all([
        start(),
        patience.insist('waiting', () => store.waiting(job.number, 0, READ_AHEAD)),
      ]);
      if (started === null || images === null || job.ended) this.#end(job);
      else job.begin(started, images.value, READ_AHEAD);
    } catch (error) {
      await this.#fail(job, error);
    }
    this.#pump();
    return job.ended ? null : job;
  }

  #readAhead(job: ActiveJob): void {
    if (job.reading || job.allRead || job.aside.isFull) return;
    job.reading = true;
    this.#workOn(job, async () => {
      const { store, patience } = this.#parts;
      const images = await patience.insist('waiting', () =>
        store.waiting(job.number, job.nextIndex, READ_AHEAD),
      );
      if (images === null || job.ended) return;
      job.take(images.value, READ_AHEAD);
      this.#pump();
    });
  }

  #handOut(job: ActiveJob, image: WaitingImage, level: number): void {
    if (image.deaths < DEATHS_TO_STOP) {
      this.#work.add(this.#run(job, image, level));
      return;
    }
    const { logger, detector } = this.#parts;
    logger.error(
      { jobId: job.jobId, index: image.index },
      'image killed the process twice: stopped',
    );
    this.#store(job, image, poisonOutcome(), detector.workerId);
  }

  async #run(
    job: ActiveJob,
    image: WaitingImage,
    priority: number,
    deadlineMs?: number,
  ): Promise<void> {
    const { number: jobNumber, jobId, settings } = job;
    if (settings === null) return;
    const abort = new AbortController();
    job.inFlight.set(image.index, abort);
    this.#window.enter(priority);
    const { signal } = abort;
    const run = { jobNumber, jobId, settings, image, priority, deadlineMs, signal };
    const end = await runImage(this.#images, run);
    job.inFlight.delete(image.index);
    this.#window.leave(priority);
    if (end.kind === 'done') {
      job.aside.done(image);
      this.#store(job, image, end.outcome, end.workerId);
    } else if (end.kind === 'no_volume') this.#setAside(job, image, end.outcome);
    // Not a death: it runs again in the job's order, beside other images and without a deadline.
    else if (end.kind === 'late' && !job.ended) job.ahead.unshift(image);
    if (job.ahead.length < READ_AHEAD / 2) this.#readAhead(job);
    this.#pump();
  }

  /** The volume may be away for a second or for an hour: meanwhile the job delays no other job. */
  #setAside(job: ActiveJob, image: WaitingImage, failure: ImageOutcome): void {
    if (job.ended) return;
    const { logger, detector } = this.#parts;
    if (job.aside.isNew)
      logger.warn({ jobId: job.jobId }, 'images of the job wait for their volume');
    if (!job.aside.take(image)) this.#store(job, image, failure, detector.workerId);
  }

  #store(job: ActiveJob, image: WaitingImage, outcome: ImageOutcome, workerId: string): void {
    this.#saver.add(job, image.index, outcome, workerId);
    if (job.saving) return;
    this.#workOn(job, async () => {
      if (await this.#saver.save(job)) this.#end(job);
      this.#pump();
    });
  }

  #end(job: ActiveJob): void {
    job.end();
    this.#order.active.delete(job.number);
  }

  async #runSuspects(): Promise<void> {
    await runSuspects(this.#parts, {
      stopping: () => this.#stopping,
      job: async (number) => {
        const queued = this.#order.waiting.take(number);
        return this.#order.active.get(number) ?? (queued && (await this.#startJob(queued)));
      },
      run: (job, image) => this.#run(job, image, 0, SUSPECT_DEADLINE_MS),
    });
  }
}
