/**
 * Sizes of the queue, counted in memory: only this process uses the store, and each answer of the store says what
 * changed.
 */
import type { EndedEarly, JobCounts, StoredJob } from '../store/job-records.js';

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

  /** Reserves a place for a submission; release it once the submission is stored or refused. */
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

  endedEarly({ job, from }: EndedEarly): void {
    this.#counts[from] -= 1;
    this.#counts.queuedImages -= job.imageCount - job.finishedImages;
  }
}
