/**
 * A started job, and where each of its images is. Until `begin` it is starting: it was taken from the order, and its
 * start is on its way to the disk; a cancel ends it here too. The runner calls `begin` when the start is on disk,
 * `nextRead` and `take` to read images, `handOut` and `enter` to run one, `finish` with its end, `save` to store
 * outcomes and `end` when nothing more is to be done. The lists of the images that wait for a volume or for a writer
 * are in `SetAside` and `BeingWritten`, which give them back.
 *
 * on disk        not read yet; next: ahead, or unsaved where a stored result is reused
 * ahead          read; next: in the detector
 * in the detector; from `enter` to `finish`, also while its model loads; next, by its end: unsaved (done, poison; part
 *                where the file is at rest; no_means after the patience), set aside (no_means), being written (part),
 *                ahead (late, model_changed), on disk for the next process (left)
 * apart          a suspect, run alone by `#runSuspects` of the runner; next: as in the detector, so that a late one
 *                joins the others. One that is poison is not run there: its place in the order ends it
 * set aside      it could not be read; next: ahead after a pause; one that fails again after the patience is unsaved
 *                with its error
 * being written  its file was not whole; next: ahead after a pause, until the file rests or the time for it is over
 * unsaved        has an outcome; next: stored, by `save`
 *
 * An image that a process died of twice runs no more (`poison`). One without an outcome when its job ends is `not_run`.
 */
import type { Problem } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';
import type { JobSettings } from '../../store/job.js';
import type { QueuedJob, StartedJob, WaitingImage } from '../../store/job-records.js';
import type { Ranked } from '../priority.js';
import { JobModel } from './job-model.js';
import { BeingWritten } from './being-written.js';
import type { ImageEnd } from './image-run.js';
import { JobOutcomes, type OutcomeParts } from './job-outcomes.js';
import type { TakenOver } from './reuse.js';
import { SetAside, type SetAsideTimes } from './set-aside.js';

/** A job that has not started. */
export type WaitingJob = QueuedJob & Ranked;

export interface ActiveJobParts extends OutcomeParts {
  volumeTimes: SetAsideTimes;
  logger: Logger;
}

/** Images that a read asks for; fewer are the last ones. */
export const READ_AHEAD = 64;

export class ActiveJob implements Ranked {
  readonly number: number;
  readonly jobId: string;
  readonly priority: number;
  readonly waitingSince: number;
  readonly model: JobModel;
  readonly #imageCount: number;
  readonly #logger: Logger;
  readonly #outcomes: JobOutcomes;
  readonly #aside: SetAside;
  readonly #written: BeingWritten;
  #settings: JobSettings | null = null;
  /** Images to hand out next; the others stay on disk. */
  readonly #ahead: WaitingImage[] = [];
  /** Index to read on from. */
  #nextIndex = 0;
  /** True from the start of the job until its first images are read. */
  #reading = true;
  #allRead = false;
  /** Indexes of images that were taken out of the order of reading. */
  readonly #apart = new Set<number>();
  readonly #inDetector = new Map<number, AbortController>();
  #ended = false;

  /**
   * `onAhead` is called when images that were set aside can be handed out again, `onModel` when its model has another
   * version.
   */
  constructor(
    job: WaitingJob,
    parts: ActiveJobParts,
    { onAhead, onModel }: { onAhead: () => void; onModel: () => void },
  ) {
    this.number = job.number;
    this.jobId = job.jobId;
    this.priority = job.priority;
    this.waitingSince = job.waitingSince;
    this.model = new JobModel(job.model ?? null, onModel);
    this.#imageCount = job.imageCount;
    this.#logger = parts.logger;
    this.#outcomes = new JobOutcomes(job, parts);
    this.#aside = new SetAside(parts.volumeTimes, (images) => {
      this.#ahead.push(...images);
      onAhead();
    });
    this.#written = new BeingWritten((image) => {
      this.#ahead.push(image);
      onAhead();
    });
  }

  /** Null until its start is on disk. */
  get settings(): JobSettings | null {
    return this.#settings;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** An image can be handed out. */
  get isReady(): boolean {
    return this.#ahead.length > 0;
  }

  /** Images still to hand out, at most. */
  get supply(): number {
    const unread = this.#allRead || this.#aside.isFull ? 0 : this.#imageCount - this.#nextIndex;
    return this.#ahead.length + unread;
  }

  /** There are outcomes to store and no `save` is at work. */
  get needsSave(): boolean {
    return this.#outcomes.needsSave;
  }

  /** `take` is to follow with the first images. */
  begin(started: StartedJob): void {
    this.#settings = started.job.spec;
    this.#outcomes.begin(started);
  }

  /**
   * Begins a read of `READ_AHEAD` images from this index on; null while none is needed or another one is in progress.
   */
  nextRead(): number | null {
    if (this.#ahead.length >= READ_AHEAD / 2) return null;
    if (this.#reading || this.#allRead || this.#aside.isFull) return null;
    this.#reading = true;
    return this.#nextIndex;
  }

  /** Ends the read with the images that it gave, and the results that some of them take over. */
  take(images: WaitingImage[], results: ReadonlyMap<number, TakenOver> = new Map()): void {
    this.#reading = false;
    this.#allRead = images.length < READ_AHEAD;
    this.#nextIndex = (images.at(-1)?.index ?? this.#nextIndex - 1) + 1;
    for (const image of images) {
      const result = results.get(image.index);
      if (this.#apart.has(image.index)) continue;
      if (result === undefined) this.#ahead.push(image);
      else this.#outcomes.takeOver(image.index, result);
    }
  }

  /** The next image; null when none is ahead. */
  handOut(): WaitingImage | null {
    return this.#ahead.shift() ?? null;
  }

  /** The caller runs this image apart from the others: `handOut` does not give it. */
  takeApart(index: number): void {
    this.#apart.add(index);
    const at = this.#ahead.findIndex((image) => image.index === index);
    if (at !== -1) this.#ahead.splice(at, 1);
  }

  /** The image goes to the detector, until `finish`; the end of the job aborts it. */
  enter({ index }: WaitingImage): AbortSignal {
    const abort = new AbortController();
    this.#inDetector.set(index, abort);
    return abort.signal;
  }

  finish(image: WaitingImage, end: ImageEnd): void {
    this.#inDetector.delete(image.index);
    if (this.#ended || end.kind === 'left') return;
    // Not a death: the image runs again in the order of the job; a late one together with other images and without a
    // deadline.
    if (end.kind === 'late' || end.kind === 'model_changed') this.#ahead.unshift(image);
    else {
      if (end.kind === 'no_means' && this.#setAside(image, end.outcome.error)) return;
      // Both were read, so their volume answers.
      if (end.kind === 'part' || end.kind === 'done') this.#aside.done(image);
      if (end.kind === 'part' && this.#written.take(image, end.file)) return;
      if (end.kind === 'done') this.#written.done(image);
      this.#outcomes.add(image.index, end);
    }
  }

  /** The volume may not answer for a second or for an hour: meanwhile the job delays no other job. */
  #setAside(image: WaitingImage, { detail }: Problem): boolean {
    if (this.#aside.isNew) {
      const facts = { jobId: this.jobId, error: detail };
      this.#logger.warn(facts, 'images of the job cannot be read now; they are tried again');
    }
    return this.#aside.take(image);
  }

  /** See `JobOutcomes.save`. */
  save(): Promise<boolean> {
    return this.#outcomes.save();
  }

  /** Aborts its images; stores no further outcome. */
  end(): void {
    this.#ended = true;
    this.#aside.end();
    this.#written.end();
    this.#ahead.length = 0;
    this.#allRead = true;
    this.#outcomes.end();
    for (const abort of this.#inDetector.values()) abort.abort();
  }
}
