/** The webhook deliveries of a job: what became of them, and sending them again. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../../api/errors.js';
import { WEBHOOK_EVENTS, webhookEvent } from '../../../api/events.js';
import { snakeCase } from '../../../api/snake-case.js';
import { MAX_ATTEMPTS_KEPT, type WebhookDeliveryState } from '../../../store/webhook-delivery.js';
import type { Job } from '../../../store/job.js';
import type { AppDeps } from '../../app-deps.js';
import { timestampSchema } from '../../../answers/job-fields.js';
import { replyJson } from '../../answer/reply.js';
import { json, type AddRoute } from '../../route.js';
import { JOB_ERRORS, jobOfPath, notFinished, ofJob } from './job-of-path.js';

const webhookId = z.string().openapi({ description: 'The webhook-id header of every attempt' });
const state = z.enum(['pending', 'delivered', 'gave_up']);
const count = z.int().openapi({ description: 'Attempts made so far' });

/** The delivery in the status of a job: `attempts` is a number. */
const delivery = snakeCase(
  z.object({
    webhookId,
    state,
    attempts: count,
    createdAt: timestampSchema,
    nextAttemptAt: timestampSchema.nullable(),
    lastStatus: z.int().nullable().openapi({ description: 'HTTP status of the last attempt' }),
    lastError: z.string().nullable(),
  }),
);

export const deliverySchema = z.object(delivery.shape).openapi('WebhookDelivery');

export type DeliveryBody = z.infer<typeof deliverySchema>;

const attempt = snakeCase(
  z.object({
    at: timestampSchema.openapi({ description: 'When it was sent, in Unix seconds' }),
    status: z.int().nullable().openapi({ description: 'HTTP status; null when no answer came' }),
    error: z.string().nullable().openapi({ description: 'Why it failed; null after a success' }),
    durationMs: z.number().openapi({ description: 'From the look-up of the host to the answer' }),
  }),
);
const attemptSchema = z.object(attempt.shape).openapi('WebhookAttempt');

/** The delivery with its log: `attempts` is a list. */
const deliveryLogSchema = z
  .object({
    webhook_id: webhookId,
    event: z.enum(WEBHOOK_EVENTS),
    state,
    created_at: timestampSchema.openapi({
      description: 'When the job ended, or something changed at a camera, in Unix seconds',
    }),
    attempt_count: count,
    attempts: z
      .array(attemptSchema)
      .openapi({ description: `The newest ${MAX_ATTEMPTS_KEPT}, oldest first` }),
    next_attempt_at: timestampSchema
      .nullable()
      .openapi({ description: 'Unix seconds; null once delivered or given up' }),
  })
  .openapi('WebhookDeliveryLog');

export const deliveryListSchema = z
  .object({ deliveries: z.array(deliveryLogSchema) })
  .openapi('WebhookDeliveries', {
    example: {
      deliveries: [
        {
          webhook_id: 'msg_2b5c8e0e9f6d4c0c8d7a',
          event: 'job.completed',
          state: 'pending',
          created_at: 1763722801.5,
          attempt_count: 1,
          attempts: [{ at: 1763722801.52, status: 500, error: 'HTTP 500', duration_ms: 12.5 }],
          next_attempt_at: 1763722806.4,
        },
      ],
    },
  });

export type WebhookListBody = z.infer<typeof deliveryListSchema>;

export function webhookRoutes(route: AddRoute, { jobs, webhooks }: AppDeps): void {
  const deliveriesOf = async (job: Job): Promise<WebhookListBody> => ({
    deliveries: (await webhooks.forJob(job.jobId)).map((each) => toWireLog(job, each)),
  });
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/webhook',
      operationId: 'getJobWebhook',
      summary: "Deliveries of a job's webhook",
      description:
        'Each attempt with its time, its answer and how long it took. The list is empty until the job has ended, and for ' +
        'a job without a callback_url.',
      ...ofJob,
      answers: { 200: json('The deliveries as they are now', deliveryListSchema) },
    },
    async (c) => replyJson(c, 200, await deliveriesOf(await jobOfPath(c, jobs))),
  );
  route(
    {
      method: 'post',
      path: '/v1/jobs/{job_id}/webhook/redeliver',
      operationId: 'redeliverJobWebhook',
      summary: "Send a job's webhook again",
      description:
        'Sends it now, also where it was delivered or given up; if that fails, all its attempts follow as for a new one. ' +
        'The webhook-id stays the same, so that a receiver can tell that it is the same message. There is no body.',
      ...ofJob,
      answers: { 202: json('It is on disk that the webhook is due', deliveryListSchema) },
      errors: [...JOB_ERRORS, 'job_not_finished', 'no_webhook'],
    },
    async (c) => {
      const job = await jobOfPath(c, jobs);
      if (job.spec.callbackUrl === null) {
        throw new LatticeError('no_webhook', 'The job was submitted without a callback_url.');
      }
      if (job.completedAt === null) throw notFinished(job);
      await webhooks.redeliver(job.jobId, Date.now() / 1000);
      return replyJson(c, 202, await deliveriesOf(job));
    },
  );
}

function toWireLog(
  { status }: Job,
  kept: WebhookDeliveryState,
): WebhookListBody['deliveries'][number] {
  return {
    webhook_id: kept.deliveryId,
    event: webhookEvent(status, kept.news?.change ?? null),
    state: kept.state,
    created_at: kept.createdAt,
    attempt_count: kept.attemptsMade,
    attempts: kept.attempts.map(attempt.toWire),
    next_attempt_at: kept.nextAttemptAt,
  };
}

/** The delivery without its URL, which may contain a secret of the receiver, and which the submitter knows. */
export function toWireDelivery(kept: WebhookDeliveryState): DeliveryBody {
  return delivery.toWire({ ...kept, webhookId: kept.deliveryId, attempts: kept.attemptsMade });
}
