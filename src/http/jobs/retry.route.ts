/** Documents and registers `POST /v1/jobs/{job_id}/retry`. */
import type { RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteHandler, RouteTable } from '../route-table.js';
import { ACCEPTED_HEADERS, IDEMPOTENCY_HEADER, JOB_LINKS, params } from './job.routes.js';
import { jobRetriedSchema, retryQuerySchema } from './job.schema.js';

const retry: RouteConfig = {
  method: 'post',
  path: '/v1/jobs/{job_id}/retry',
  operationId: 'retryJob',
  summary: 'Run the failed images of a job again, or all',
  description:
    'Makes a new job of the images that have no boxes: those that failed and, in a job that was cancelled, those ' +
    'that had no turn; with `images=all` of every image. Model, thresholds, classes, priority, callback_url, metadata and annotate are those of the ' +
    'first job, which stays as it is. There is no body. Answers once the new job is on disk.',
  tags: ['Jobs'],
  request: { params, query: retryQuerySchema, headers: IDEMPOTENCY_HEADER },
  responses: {
    202: {
      description: 'Accepted',
      content: { 'application/json': { schema: jobRetriedSchema } },
      headers: ACCEPTED_HEADERS,
      links: JOB_LINKS,
    },
    ...problemResponses(
      'unauthorized',
      'job_not_found',
      'job_not_finished',
      'validation_failed',
      'nothing_to_retry',
      'unknown_model',
      'invalid_model',
      'idempotency_key_reused',
      'queue_full',
      'internal_error',
      'storage_unavailable',
      'model_not_ready',
      'shutting_down',
    ),
  },
};

export function addRetryRoute(table: RouteTable, handler: RouteHandler): void {
  table.add(retry, handler);
}
