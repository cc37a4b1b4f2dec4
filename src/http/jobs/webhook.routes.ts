/** Routes of a job's webhook deliveries. */
import type { RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteTable } from '../route-table.js';
import { params } from './job.routes.js';
import type { WebhookHandlers } from './webhook.handlers.js';
import { webhookListSchema } from './webhook.schema.js';

const show: RouteConfig = {
  method: 'get',
  path: '/v1/jobs/{job_id}/webhook',
  operationId: 'getJobWebhook',
  summary: "Deliveries of a job's webhook",
  description:
    'Each attempt with its time, its answer and how long it took. The list is empty until the job has ended, and for ' +
    'a job without a callback_url.',
  tags: ['Jobs'],
  request: { params },
  responses: {
    200: {
      description: 'The deliveries as they are now',
      content: { 'application/json': { schema: webhookListSchema } },
    },
    ...problemResponses('unauthorized', 'job_not_found', 'internal_error', 'storage_unavailable'),
  },
};

const redeliver: RouteConfig = {
  method: 'post',
  path: '/v1/jobs/{job_id}/webhook/redeliver',
  operationId: 'redeliverJobWebhook',
  summary: "Send a job's webhook again",
  description:
    'Sends it now, also where it was delivered or given up; if that fails, all its attempts follow as for a new one. ' +
    'The webhook-id stays the same, so that a receiver can tell that it is the same message. There is no body.',
  tags: ['Jobs'],
  request: { params },
  responses: {
    202: {
      description: 'It is on disk that the webhook is due',
      content: { 'application/json': { schema: webhookListSchema } },
    },
    ...problemResponses(
      'unauthorized',
      'job_not_found',
      'job_not_finished',
      'no_webhook',
      'internal_error',
      'storage_unavailable',
    ),
  },
};

export function addWebhookRoutes(table: RouteTable, handlers: WebhookHandlers): void {
  table.add(show, handlers.show);
  table.add(redeliver, handlers.redeliver);
}
