/** The events of a job: the outbox keeps them, `/v1/stream` sends them. Their fields are those of `JobEvent`. */
interface EventRow {
  /** Sent to a connection that has not said which events it wants. */
  byDefault: boolean;
  /** True: the event has a number and is sent again to a connection that asks for earlier events. */
  stored: boolean;
  /** True: the event is the last one of a job. */
  ends?: true;
}

const ROWS = {
  /** The job is on disk. */
  job_submitted: { byDefault: true, stored: true },
  /** A worker has its first image, in this or in an earlier process. */
  job_started: { byDefault: false, stored: true },
  /** Images have finished. It repeats the number of the event before it. */
  job_progress: { byDefault: false, stored: false },
  job_completed: { byDefault: true, stored: true, ends: true },
  /** The job failed or was cancelled; `error` says why. */
  job_failed: { byDefault: true, stored: true, ends: true },
} as const satisfies Record<string, EventRow>;

export type JobEventName = keyof typeof ROWS;

export const JOB_EVENTS: Readonly<Record<JobEventName, EventRow>> = ROWS;

export const isEnd = (event: JobEventName): boolean => JOB_EVENTS[event].ends === true;

export const JOB_EVENT_NAMES = Object.keys(ROWS) as JobEventName[];

/** Events of webhooks at the end of a job. */
export const WEBHOOK_EVENTS = ['job.completed', 'job.failed'] as const;

export function webhookEvent(status: string): (typeof WEBHOOK_EVENTS)[number] {
  return status === 'failed' ? 'job.failed' : 'job.completed';
}

/** The events that a stream sends by default, or the ones that it sends only on request. */
export function eventsSent(byDefault: boolean): JobEventName[] {
  return JOB_EVENT_NAMES.filter((name) => JOB_EVENTS[name].byDefault === byDefault);
}
