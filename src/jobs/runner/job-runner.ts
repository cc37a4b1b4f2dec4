/**
 * Feeds the images of all jobs to the detector, the most urgent first, and stores their outcomes. Holds few
 * images of a job at a time; the others stay on disk. `store/job-transitions.ts` says when a job is completed or
 * failed, and what a restart does. Runs on the main thread; nothing here blocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ActiveJob, READ_AHEAD, type ActiveJobParts, type WaitingJob } from './active-job.js';
import { FlightWindow } from './flight-window.js';
import { DEATHS_TO_STOP, runImage, type ImageRunner } from './image-run.js';
import type { QueuedJob, WaitingImage } from '../../store/job-records.js';
import type { JobSettings } from '../../store/job.js';
import { versionOf } from '../../api/version-of.js';
import type { Reuse } from './reuse.js';
import { WorkOrder } from './work-order.js';
import type { NamedVersion } from '../../api/schemas/model.js';
import { toLatticeError } from '../../api/errors.js';
import { inTime } from '../../base/in-time.js';

export interface RunnerParts extends Omit<ImageRunner, 'stopping'>, ActiveJobParts {
  /** Waiting time that raises a job by one priority. */
  ageingSeconds: number;
  reuse: Reuse | null;
}

/** Images ready to hand out while the start of the next job is being stored. */
const LEAST_SUPPLY = 16;
/** A suspect runs alone; one that hangs must not block the other images. */
const SUSPECT_DEADLINE_MS = 60_000;
/**
 * Limit for loading the model of a suspect, outside its deadline: an engine may have to be built first, which takes
 * minutes.
 */
const MODEL_MS = 20 * 60_000;
/** Aborted calls settle at once; one that hangs is not waited for. */
const ABORT_MS = 250;

export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #images: ImageRunner;
  readonly #order: WorkOrder;
  readonly #window: FlightWindow;
  readonly #work = new OpenWork();
  /** Models of the jobs that an earlier process began and this one has not. */
  readonly #begunBefore = new Map<number, NamedVersion>();
  /** The digests that the detector keeps. */
  #kept = '';
  #quarantine = true;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#order = new WorkOrder(parts.ageingSeconds);
    this.#window = new FlightWindow(parts.detector);
    this.#images = { ...parts, stopping: () => this.#stopping };
  }

  /**
   * Waits for `chargeCrash`, which finds the images that were in hand at a crash. Runs those one by one, then all jobs.
   * A defect in `chargeCrash` belongs to no job: it ends the process.
   */
  start(chargeCrash: () => Promise<void>): void {
    const start = async () => {
      const charged = await this.#parts.patience.untilDone('chargeDeaths', chargeCrash);
      if (charged === null) return;
      await this.#runSuspects();
      this.#quarantine = false;
      this.#pump();
    };
    this.#work.add(start());
  }

  enqueue(job: QueuedJob): void {
    this.#order.waiting.add(job);
    if (job.model) {
      this.#begunBefore.set(job.number, job.model);
      this.#keepModels();
    }
    this.#pump();
  }

  /** The store has ended the job: takes its images out of the detector. */
  cancelled(jobNumber: number): void {
    this.#order.waiting.take(jobNumber);
    if (this.#begunBefore.delete(jobNumber)) this.#keepModels();
    const active = this.#order.active.get(jobNumber);
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
      const image = job.handOut();
      if (image !== null) this.#work.add(this.#run(job, image, rank.level));
      this.#readAhead(job);
    }
  }

  /**
   * A defect of the program in the work for a job fails that job, so that the work neither repeats for ever nor stays
   * `running`.
   */
  #workOn(job: ActiveJob, work: () => Promise<void>): void {
    this.#work.add(work().catch((error: unknown) => this.#fail(job, error)));
  }

  /** Outcomes that are on disk are kept. */
  async #fail(job: ActiveJob, thrown: unknown): Promise<void> {
    const { store, counts, patience, logger } = this.#parts;
    const error = toLatticeError(thrown);
    const { stack, cause } = error;
    logger.error({ job_id: job.jobId, stack, cause: String(cause) }, 'job failed unexpectedly');
    const ended = await patience.untilDone('fail', () =>
      store.fail(job.number, Date.now() / 1000, error.toProblem()),
    );
    if (ended?.value) counts.endedEarly(ended.value);
    this.#end(job);
    this.#pump();
  }

  /** Null when the job is not pending any more, or has failed. */
  async #startJob(queued: WaitingJob): Promise<ActiveJob | null> {
    const { store, detector, counts, patience } = this.#parts;
    const job = new ActiveJob(queued, this.#parts, {
      onAhead: () => {
        this.#pump();
      },
      onModel: () => {
        this.#keepModels();
      },
    });
    this.#order.active.set(job.number, job);
    this.#begunBefore.delete(job.number);
    const start = async () => {
      const started = await patience.untilDone('start', () =>
        store.start(job.number, detector.workerId, Date.now() / 1000),
      );
      if (started?.value) counts.started();
      return started?.value ?? null;
    };
    try {
      // Both calls travel in one message, so the images arrive with the start.
      const [started, images] = await Promise.all([
        start(),
        patience.untilDone('waiting', () => store.waiting(job.number, 0, READ_AHEAD)),
      ]);
      if (started === null || images === null || job.ended) this.#end(job);
      else {
        job.begin(started);
        this.#supply(job, started.job.spec, images.value);
      }
    } catch (error) {
      await this.#fail(job, error);
    }
    this.#pump();
    return job.ended ? null : job;
  }

  #readAhead(job: ActiveJob): void {
    const from = job.nextRead();
    if (from === null) return;
    this.#workOn(job, async () => {
      const { store, patience } = this.#parts;
      const images = await patience.untilDone('waiting', () =>
        store.waiting(job.number, from, READ_AHEAD),
      );
      if (images === null || job.ended || job.settings === null) return;
      this.#supply(job, job.settings, images.value);
    });
  }

  /** Gives the job the images that were read; those that take over a stored result do not run. */
  #supply(job: ActiveJob, settings: JobSettings, images: WaitingImage[]): void {
    const { reuse } = this.#parts;
    if (reuse?.isWanted(settings) !== true) {
      job.take(images);
      this.#pump();
      return;
    }
    this.#workOn(job, async () => {
      const model = await this.#modelOf(job, settings);
      const results = await reuse.takeOver(settings, images, model);
      if (job.ended) return;
      job.take(images, results);
      if (job.needsSave) this.#save(job);
      this.#readAhead(job);
      this.#pump();
    });
  }

  async #run(
    job: ActiveJob,
    image: WaitingImage,
    priority: number,
    deadlineMs?: number,
  ): Promise<void> {
    const { number: jobNumber, jobId, settings } = job;
    if (settings === null) return;
    this.#window.enter(priority);
    const signal = job.enter(image);
    const model = await this.#modelOf(job, settings);
    const run = { jobNumber, jobId, settings, image, model, priority, deadlineMs, signal };
    const end = await runImage(this.#images, run);
    this.#window.leave(priority);
    if (end.kind === 'done' && end.model) job.model.ranOn(end.model);
    if (end.kind === 'model_changed' && job.model.lose(end.model)) {
      const facts = { jobId, model: settings.options.modelName, digest: end.model.source };
      this.#parts.logger.warn(
        facts,
        'no worker has the model file that a job began with: it goes on with the present one',
      );
    }
    job.finish(image, end);
    if (job.needsSave) this.#save(job);
    this.#readAhead(job);
    this.#pump();
  }

  /** Null where no worker can tell: a model that cannot be used shows in the run. */
  #modelOf({ model, jobId }: ActiveJob, { options }: JobSettings): Promise<NamedVersion | null> {
    return model.of(() =>
      this.#parts.detector.prepare(options.modelName, jobId).then(versionOf, () => null),
    );
  }

  #keepModels(): void {
    const byDigest = new Map<string, NamedVersion>();
    for (const { model } of this.#order.active.values()) {
      if (model.version !== null) byDigest.set(model.version.digest, model.version);
    }
    for (const version of this.#begunBefore.values()) byDigest.set(version.digest, version);
    const digests = [...byDigest.keys()].sort().join();
    if (digests === this.#kept) return;
    this.#kept = digests;
    this.#parts.detector.keepModels([...byDigest.values()]);
  }

  #save(job: ActiveJob): void {
    this.#workOn(job, async () => {
      if (await job.save()) this.#end(job);
      this.#pump();
    });
  }

  #end(job: ActiveJob): void {
    job.end();
    this.#order.active.delete(job.number);
    if (job.model.version !== null) this.#keepModels();
  }

  /**
   * Images that were in the detector when the process died: one of them may have killed it. The detector must have no
   * other image, so that a second death identifies its image.
   */
  async #runSuspects(): Promise<void> {
    const { store, patience, logger } = this.#parts;
    const found = await patience.untilDone('suspects', () => store.suspects());
    for (const { jobNumber, ...image } of found?.value ?? []) {
      if (this.#stopping) return;
      const queued = this.#order.waiting.take(jobNumber);
      const job = this.#order.active.get(jobNumber) ?? (queued && (await this.#startJob(queued)));
      if (job === null || job.ended || job.settings === null) continue;
      // An image with too many deaths is not run: it ends with its error in the job's order.
      if (image.deaths >= DEATHS_TO_STOP) continue;
      job.takeApart(image.index);
      await inTime(this.#modelOf(job, job.settings), MODEL_MS, null);
      const facts = { jobId: job.jobId, index: image.index };
      logger.warn(facts, 'image was in hand at a crash: runs alone');
      await this.#run(job, image, 0, SUSPECT_DEADLINE_MS);
    }
  }
}

/** Promises that no caller awaits. A stop waits for them. */
class OpenWork {
  readonly #open = new Set<Promise<void>>();

  add(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => {
      this.#open.delete(work);
    });
  }

  /** Resolves when no work is open, or after `ms`. Never rejects; does not keep the process alive. */
  async settled(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.#open.size > 0 && performance.now() < deadline) {
      const left = Math.max(0, deadline - performance.now());
      await Promise.race([Promise.allSettled(this.#open), sleep(left, undefined, { ref: false })]);
    }
  }
}
