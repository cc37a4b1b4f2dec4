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
  /** A camera of a watch is not as it was; `finding` says how. */
  camera_finding_opened: { byDefault: true, stored: true },
  camera_finding_closed: { byDefault: true, stored: true },
  /** A vehicle stands in a place, or has left it; `place` says which. */
  place_occupied: { byDefault: true, stored: true },
  place_left: { byDefault: true, stored: true },
  /** Pictures of one camera that show a vehicle and follow each other are over; `camera_event` says what they show. */
  camera_event: { byDefault: true, stored: true },
} as const satisfies Record<string, EventRow>;

export type JobEventName = keyof typeof ROWS;

export const JOB_EVENTS: Readonly<Record<JobEventName, EventRow>> = ROWS;

export const isEnd = (event: JobEventName): boolean => JOB_EVENTS[event].ends === true;

export const JOB_EVENT_NAMES = Object.keys(ROWS) as JobEventName[];

/** Events of webhooks at the end of a job, and of cameras of watches. */
export const JOB_WEBHOOK_EVENTS = ['job.completed', 'job.failed'] as const;
export const FINDING_WEBHOOK_EVENTS = ['camera.finding_opened', 'camera.finding_closed'] as const;
export const PLACE_WEBHOOK_EVENTS = ['place.occupied', 'place.left'] as const;
export const EVENT_WEBHOOK_EVENTS = ['camera.event'] as const;
export const WEBHOOK_EVENTS = [
  ...JOB_WEBHOOK_EVENTS,
  ...FINDING_WEBHOOK_EVENTS,
  ...PLACE_WEBHOOK_EVENTS,
  ...EVENT_WEBHOOK_EVENTS,
] as const;

/** Changes at cameras of watches, by the names of their event and of their webhook. */
export const CAMERA_CHANGES = {
  opened: { event: 'camera_finding_opened', webhook: 'camera.finding_opened' },
  closed: { event: 'camera_finding_closed', webhook: 'camera.finding_closed' },
  occupied: { event: 'place_occupied', webhook: 'place.occupied' },
  left: { event: 'place_left', webhook: 'place.left' },
  ended: { event: 'camera_event', webhook: 'camera.event' },
} as const satisfies Record<
  string,
  { event: JobEventName; webhook: (typeof WEBHOOK_EVENTS)[number] }
>;
export type CameraChange = keyof typeof CAMERA_CHANGES;

/** Null: the end of the job. */
export function webhookEvent(
  status: string,
  change: CameraChange | null,
): (typeof WEBHOOK_EVENTS)[number] {
  if (change !== null) return CAMERA_CHANGES[change].webhook;
  return status === 'failed' ? 'job.failed' : 'job.completed';
}

/** The events that a stream sends by default, or the ones that it sends only on request. */
export function eventsSent(byDefault: boolean): JobEventName[] {
  return JOB_EVENT_NAMES.filter((name) => JOB_EVENTS[name].byDefault === byDefault);
}
