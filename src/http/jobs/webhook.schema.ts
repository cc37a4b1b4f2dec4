/** Wire shapes of a job's webhook deliveries. */
import { z } from '@hono/zod-openapi';
import { MAX_ATTEMPTS_KEPT } from '../../jobs/webhook-delivery.js';
import { timestampSchema } from './job.schema.js';

const attemptSchema = z
  .object({
    at: timestampSchema.openapi({ description: 'When it was sent, in Unix seconds' }),
    status: z.int().nullable().openapi({ description: 'HTTP status; null when no answer came' }),
    error: z.string().nullable().openapi({ description: 'Why it failed; null after a success' }),
    duration_ms: z.number().openapi({ description: 'From the look-up of the host to the answer' }),
  })
  .openapi('WebhookAttempt');

const deliverySchema = z
  .object({
    webhook_id: z.string().openapi({ description: 'The webhook-id header of every attempt' }),
    event: z.enum(['job.completed', 'job.failed']),
    state: z.enum(['pending', 'delivered', 'gave_up']),
    created_at: timestampSchema.openapi({ description: 'When the job ended, in Unix seconds' }),
    attempt_count: z.int().openapi({ description: 'Attempts made so far' }),
    attempts: z
      .array(attemptSchema)
      .openapi({ description: `The newest ${MAX_ATTEMPTS_KEPT}, oldest first` }),
    next_attempt_at: timestampSchema
      .nullable()
      .openapi({ description: 'Unix seconds; null once delivered or given up' }),
  })
  .openapi('WebhookDeliveryLog');

export const webhookListSchema = z
  .object({ deliveries: z.array(deliverySchema) })
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

export type WebhookListBody = z.infer<typeof webhookListSchema>;
