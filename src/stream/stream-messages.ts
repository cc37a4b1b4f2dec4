/** The message catalogue of `/v1/stream`, both directions; `docs/events.md` explains it to clients. */
import { z } from '@hono/zod-openapi';
import { LatticeError, type Problem } from '../api/errors.js';
import type { RegionCounts } from '../api/schemas/image.js';
import { JOB_EVENT_NAMES, type JobEventName } from '../api/events.js';
import { parseJson } from '../http/request/json-body.js';
import { toWireNews, type WireNews } from '../answers/camera-record.js';
import { hideInProblem, type HideFolders } from '../answers/shown-problem.js';
import { NO_FIGURES, toWireFigures, type WireFigures } from '../api/job-figures.js';
import type { JobStatus } from '../api/job-values.js';
import type { Job, JobEvent } from '../store/job.js';

/** Chosen by the client and repeated in the answer. */
const idSchema = z.union([z.string().max(128), z.number()]);
type MessageId = z.infer<typeof idSchema>;

/** Null counts as not given, as in a submission. */
const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

const id = optional(idSchema);
export const clientMessageSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('ping'), id }),
  z.strictObject({ action: z.literal('submit'), id, payload: z.unknown() }),
  z.strictObject({
    action: z.literal('subscribe'),
    id,
    job_ids: optional(z.array(z.string().min(1).max(128)).max(1_000)),
    events: optional(z.array(z.enum(JOB_EVENT_NAMES)).max(JOB_EVENT_NAMES.length)),
    after_seq: optional(z.int().min(0)),
  }),
  z.strictObject({ action: z.literal('unsubscribe'), id }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;
/** The message in the form that a client writes. */
export type SubscribeMessage = Extract<
  z.input<typeof clientMessageSchema>,
  { action: 'subscribe' }
>;

/** An event of a job on the wire. */
export interface EventMessage extends WireFigures, WireNews {
  event: JobEventName;
  id?: MessageId | undefined;
  job_id: string;
  status: JobStatus;
  timestamp: number;
  seq: number;
  progress: number;
  /** The name of the watch that made the job. */
  watch?: string | undefined;
  error?: Problem | undefined;
  /** Boxes of a job that has ended, by class; absent in events that an older release stored. */
  class_counts?: Record<string, number> | undefined;
  /** The same by region and class; present where the job has regions. */
  region_counts?: RegionCounts | undefined;
}

/** A frame's text -> JSON value. Throws `bad_json`, or `validation_failed` beyond the limits on depth and keys. */
export function parseFrame(data: unknown): unknown {
  if (typeof data !== 'string') {
    throw new LatticeError('bad_json', 'Send JSON as text, not as binary.');
  }
  return parseJson(data);
}

/** The id of a message that may be wrong in every other way. */
export function idOf(value: unknown): MessageId | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  const parsed = idSchema.safeParse(value.id);
  return parsed.success ? parsed.data : undefined;
}

/**
 * Wire form of an event; `messageId` only for the socket whose submission it answers. Without `seq` for a submission
 * whose event has not arrived yet: the number belongs to the event.
 */
export function eventMessage(
  event: Omit<JobEvent, 'seq' | 'keyId'> & { seq?: number },
  hide: HideFolders,
  messageId?: MessageId,
): object {
  const message: Omit<EventMessage, 'seq'> & { seq: number | undefined } = {
    event: event.event,
    id: messageId,
    job_id: event.jobId,
    status: event.status,
    timestamp: event.timestamp,
    seq: event.seq,
    progress: event.progress,
    ...toWireFigures(event),
    watch: event.watch ?? undefined,
    error: event.error && hideInProblem(event.error, hide),
    class_counts: event.counts?.classCounts,
    region_counts: event.counts?.regionCounts,
    ...(event.news && toWireNews(event.news)),
  };
  return message;
}

/** The submission of a job as its event says it. */
export function submissionOf({ jobId, status, submittedAt }: Job): Omit<JobEvent, 'seq' | 'keyId'> {
  const event = 'job_submitted';
  return { event, jobId, status, timestamp: submittedAt, progress: 0, ...NO_FIGURES };
}

/** Messages that concern no job. `fields`: `seq` with `pong` and `subscribed`, `after_seq` with `gap`, `error`. */
export function notice(
  event: 'pong' | 'subscribed' | 'unsubscribed' | 'gap' | 'error',
  messageId: MessageId | undefined,
  fields: { seq?: number; after_seq?: number; error?: Problem } = {},
): object {
  return { event, id: messageId, timestamp: Date.now() / 1000, ...fields };
}
