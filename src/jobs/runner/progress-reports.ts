/** Emits `job_progress`, at most one per job and interval; the newest state is never left out for longer. */
import type { ActiveJob } from './active-job.js';
import { progressOf } from '../job.js';
import type { JobEvents } from '../job-events.js';

interface Report {
  timer: NodeJS.Timeout;
  job: ActiveJob;
  /** Changed since the last event. */
  fresh: boolean;
}

export class ProgressReports {
  readonly #events: JobEvents;
  readonly #intervalMs: number;
  readonly #reports = new Map<number, Report>();

  constructor(events: JobEvents, intervalMs: number) {
    this.#events = events;
    this.#intervalMs = intervalMs;
  }

  changed(job: ActiveJob): void {
    if (job.ended) return;
    const report = this.#reports.get(job.number);
    if (report !== undefined) {
      report.fresh = true;
      return;
    }
    this.#emit(job);
    const timer = setInterval(() => {
      this.#tick(job.number);
    }, this.#intervalMs);
    timer.unref();
    this.#reports.set(job.number, { timer, job, fresh: false });
  }

  forget(jobNumber: number): void {
    clearInterval(this.#reports.get(jobNumber)?.timer);
    this.#reports.delete(jobNumber);
  }

  close(): void {
    for (const jobNumber of [...this.#reports.keys()]) this.forget(jobNumber);
  }

  #tick(jobNumber: number): void {
    const report = this.#reports.get(jobNumber);
    if (report?.fresh !== true) {
      this.forget(jobNumber);
      return;
    }
    report.fresh = false;
    this.#emit(report.job);
  }

  #emit(job: ActiveJob): void {
    this.#events.emit({
      event: 'job_progress',
      jobId: job.jobId,
      status: 'running',
      timestamp: Date.now() / 1000,
      seq: this.#events.lastSeq,
      progress: progressOf(job),
      keyId: job.settings?.keyId ?? null,
    });
  }
}
