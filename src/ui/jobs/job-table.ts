/** The newest jobs, from lists of the service and the events since. */
import type { JobEvent, JobStatus } from '../../client/records.js';

const RANK: Record<JobStatus['status'], number> = {
  pending: 0,
  running: 1,
  completed: 2,
  failed: 2,
};

export function hasEnded(job: Pick<JobStatus, 'status'>): boolean {
  return RANK[job.status] === 2;
}

/** Results that go within this time are pointed out. */
export const SOON_S = 24 * 3_600;

/** The states that people see. The service ends a cancelled job as failed. */
export type ShownState = JobStatus['status'] | 'cancelled';

export function shownState({ status, error }: Pick<JobStatus, 'status' | 'error'>): ShownState {
  return error?.code === 'cancelled' ? 'cancelled' : status;
}

/** The job after the event. An event that the job is already past changes nothing. */
export function afterEvent(job: JobStatus, event: JobEvent): JobStatus {
  if (hasEnded(job) || RANK[event.status] < RANK[job.status]) return job;
  const isPast = event.status === job.status && event.progress < job.progress;
  if (isPast) return job;
  const after: JobStatus = {
    ...job,
    status: event.status,
    progress: event.progress,
    finished_images: Math.round(event.progress * job.image_count),
    failed_images: event.failed_images,
  };
  if (event.event === 'job_started') after.started_at ??= event.timestamp;
  if (hasEnded(after)) after.completed_at = event.timestamp;
  if (event.error !== undefined) after.error = event.error;
  return after;
}

export class JobTable {
  #jobs = new Map<string, JobStatus>();
  /** Events since a list was asked for, which it may not know yet; null while none is under way. */
  #sinceAsked: JobEvent[] | null = null;

  /** Newest first. */
  get rows(): JobStatus[] {
    return [...this.#jobs.values()];
  }

  get(jobId: string): JobStatus | undefined {
    return this.#jobs.get(jobId);
  }

  /** An answer of the service about one job. */
  set(job: JobStatus): void {
    if (this.#jobs.has(job.job_id)) this.#jobs.set(job.job_id, job);
  }

  delete(jobId: string): void {
    this.#jobs.delete(jobId);
  }

  /** Call before a list is requested, so that events until its arrival are not lost. */
  ask(): void {
    this.#sinceAsked = [];
  }

  /** Call when none came. */
  askFailed(): void {
    this.#sinceAsked = null;
  }

  /** A list from the service, newest first; it replaces everything before. */
  show(jobs: readonly JobStatus[]): void {
    this.#jobs = new Map(jobs.map((job) => [job.job_id, job]));
    const since = this.#sinceAsked ?? [];
    this.#sinceAsked = null;
    for (const event of since) this.#update(event);
  }

  /** True when the event is of a new job: only a list says what it is. */
  apply(event: JobEvent): boolean {
    this.#sinceAsked?.push(event);
    this.#update(event);
    return event.event === 'job_submitted' && !this.#jobs.has(event.job_id);
  }

  #update(event: JobEvent): void {
    const job = this.#jobs.get(event.job_id);
    if (job !== undefined) this.#jobs.set(event.job_id, afterEvent(job, event));
  }
}
