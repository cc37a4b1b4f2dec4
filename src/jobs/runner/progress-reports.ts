/** Emits `job_progress`: the first at once, then at most one per job and interval, each with the newest state. */
import type { ActiveJob } from './active-job.js';
import { progressOf } from '../job.js';
import type { JobEvents } from '../job-events.js';

export class ProgressReports {
  readonly #events: JobEvents;
  readonly #intervalMs: number;

  constructor(events: JobEvents, intervalMs: number) {
    this.#events = events;
    this.#intervalMs = intervalMs;
  }

  changed(job: ActiveJob): void {
    if (job.ended || job.report !== undefined) return;
    const wait = job.reportedAt + this.#intervalMs - performance.now();
    if (wait <= 0) this.#emit(job);
    else
      job.report = setTimeout(() => {
        this.#emit(job);
      }, wait).unref();
  }

  #emit(job: ActiveJob): void {
    job.report = undefined;
    job.reportedAt = performance.now();
    this.#events.emit({
      event: 'job_progress',
      jobId: job.jobId,
      status: 'running',
      timestamp: Date.now() / 1000,
      seq: this.#events.lastSeq,
      progress: progressOf(job),
      failedImages: job.failedImages,
      keyId: job.settings?.keyId ?? null,
    });
  }
}
