/** A started job: the images read ahead, those in the detector, and the outcomes that are not stored yet. */
import type { JobSettings } from '../job.js';
import type { NewOutcome, QueuedJob, StartedJob, WaitingImage } from '../job-records.js';
import type { Ranked } from '../priority.js';
import { SetAside, type SetAsideTimes } from './set-aside.js';

/** A job that has not started. */
export type WaitingJob = QueuedJob & Ranked;

export class ActiveJob implements Ranked {
  readonly number: number;
  readonly jobId: string;
  readonly priority: number;
  readonly waitingSince: number;
  readonly imageCount: number;
  /** Null until its start is on disk. */
  settings: JobSettings | null = null;
  /** The lease under which it was started. */
  lease = 0;
  finishedImages = 0;
  failedImages = 0;
  /** Images to hand out next; the others stay on disk. */
  readonly ahead: WaitingImage[] = [];
  /** Index to read on from. */
  nextIndex = 0;
  reading = false;
  allRead = false;
  /** Handed out apart from the order of reading. */
  readonly takenApart = new Set<number>();
  readonly inFlight = new Map<number, AbortController>();
  readonly aside: SetAside;
  unsaved: NewOutcome[] = [];
  /** The worker that ran the newest of them. */
  workerId = '';
  saving = false;
  /** When outcomes were last stored, by the monotonic clock. */
  savedAt = -Infinity;
  /** Ends the saver's wait for more outcomes. */
  hurry: () => void = () => undefined;
  /** When `job_progress` was last emitted, by the monotonic clock. */
  reportedAt = -Infinity;
  /** Emits the next `job_progress`. */
  report: NodeJS.Timeout | undefined;
  #ended = false;

  /** `onAhead` is called when there are images to hand out again. */
  constructor(job: WaitingJob, times: SetAsideTimes, onAhead: () => void) {
    this.number = job.number;
    this.jobId = job.jobId;
    this.priority = job.priority;
    this.waitingSince = job.waitingSince;
    this.imageCount = job.imageCount;
    this.aside = new SetAside(times, (images) => {
      this.ahead.push(...images);
      onAhead();
    });
  }

  /** Images still to hand out, at most. */
  get supply(): number {
    return (
      this.ahead.length + (this.allRead || this.aside.isFull ? 0 : this.imageCount - this.nextIndex)
    );
  }

  get ended(): boolean {
    return this.#ended;
  }

  begin({ job, lease }: StartedJob, images: WaitingImage[], limit: number): void {
    this.settings = job.spec;
    this.lease = lease;
    this.finishedImages = job.finishedImages;
    this.failedImages = job.failedImages;
    this.take(images, limit);
  }

  /** Takes the images that were read; fewer than the `limit` of the read are the last ones. */
  take(images: WaitingImage[], limit: number): void {
    this.reading = false;
    this.allRead = images.length < limit;
    this.nextIndex = (images.at(-1)?.index ?? this.nextIndex - 1) + 1;
    this.ahead.push(...images.filter(({ index }) => !this.takenApart.has(index)));
  }

  /** Aborts its images; stores no further outcome. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.report);
    this.aside.end();
    this.ahead.length = 0;
    this.allRead = true;
    this.unsaved = [];
    this.hurry();
    for (const abort of this.inFlight.values()) abort.abort();
  }
}
