/** Sizes of the queue, followed in memory: the store has one process, and each of its answers says what changed. */
import type { CancelOutcome, JobCounts, StoredJob } from './job-records.js';

export class QueueCounts {
  readonly #counts: JobCounts;
  #reserved = 0;

  constructor(initial: JobCounts) {
    this.#counts = { ...initial };
  }

  get current(): JobCounts {
    return { ...this.#counts };
  }

  /** Jobs that have not ended, with those on their way to the disk. */
  get unfinished(): number {
    return this.#counts.pending + this.#counts.running + this.#reserved;
  }

  /** Takes a place for a submission; give it back once its fate is known. */
  reserve(): () => void {
    this.#reserved += 1;
    return () => {
      this.#reserved -= 1;
    };
  }

  submitted(job: StoredJob): void {
    this.#counts.pending += 1;
    this.#counts.queuedImages += job.imageCount;
  }

  started(): void {
    this.#counts.pending -= 1;
    this.#counts.running += 1;
  }

  recorded(images: number): void {
    this.#counts.queuedImages -= images;
  }

  finished(): void {
    this.#counts.running -= 1;
  }

  cancelled({ job, from }: Extract<CancelOutcome, { kind: 'cancelled' }>): void {
    this.#counts[from] -= 1;
    this.#counts.queuedImages -= job.imageCount - job.finishedImages;
  }
}
