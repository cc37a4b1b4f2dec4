/** The webhook deliveries of a job: what became of them, and sending them again. */
import { LatticeError } from '../../api/errors.js';
import type { Job } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import { jobId, notFinished } from './job-of-path.js';
import type { WebhookListBody } from './webhook.schema.js';

export interface WebhookHandlers {
  show: RouteHandler;
  redeliver: RouteHandler;
}

export function createWebhookHandlers({
  jobs,
  webhooks,
}: Pick<AppDeps, 'jobs' | 'webhooks'>): WebhookHandlers {
  const view = async (job: Job): Promise<WebhookListBody> => ({
    deliveries: ((await webhooks?.forJob(job.jobId)) ?? []).map((delivery) => ({
      webhook_id: delivery.deliveryId,
      event: job.status === 'failed' ? 'job.failed' : 'job.completed',
      state: delivery.state,
      created_at: delivery.createdAt,
      attempt_count: delivery.attemptsMade,
      attempts: delivery.attempts.map(({ at, status, error, durationMs }) => ({
        at,
        status,
        error,
        duration_ms: durationMs,
      })),
      next_attempt_at: delivery.nextAttemptAt,
    })),
  });
  return {
    show: async (c) => replyJson(c, 200, await view(await jobs.get(jobId(c), c.get('keyId')))),
    redeliver: async (c) => {
      const job = await jobs.get(jobId(c), c.get('keyId'));
      if (job.spec.callbackUrl === null) {
        throw new LatticeError('no_webhook', 'The job was submitted without a callback_url.');
      }
      if (job.completedAt === null) throw notFinished(job);
      await webhooks?.redeliver(job.jobId, Date.now() / 1000);
      return replyJson(c, 202, await view(job));
    },
  };
}
