/** Job routes: methods, paths and every documented status. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteTable } from '../route-table.js';
import { MAX_IDEMPOTENCY_KEY } from './idempotency.js';
import type { JobHandlers } from './job.handlers.js';
import { listQuerySchema } from './job-list-query.js';
import {
  EXAMPLE_JOB_ID,
  jobAcceptedSchema,
  jobListSchema,
  jobResultSchema,
  jobStatusSchema,
  jobSubmitSchema,
} from './job.schema.js';

const tags = ['Jobs'];
const params = z.object({ job_id: z.string().openapi({ example: EXAMPLE_JOB_ID }) });
const json = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } },
});

const JOB_OF_BODY = { job_id: '$response.body#/job_id' };

const submit: RouteConfig = {
  method: 'post',
  path: '/v1/jobs/submit',
  operationId: 'submitJob',
  summary: 'Submit a job',
  description: 'Answers once the job is on disk.',
  tags,
  request: {
    headers: z.object({
      'Idempotency-Key': z.string().min(1).max(MAX_IDEMPOTENCY_KEY).optional().openapi({
        pattern: '^[!-~](?:[ -~]*[!-~])?$',
        description:
          'A repeat with the same key and body gives the first job again. Printable ASCII, bare or in quotes',
        example: 'camera-7-2026-11-21T10:00',
      }),
    }),
    body: { required: true, content: { 'application/json': { schema: jobSubmitSchema } } },
  },
  responses: {
    202: {
      ...json('Accepted', jobAcceptedSchema),
      headers: z.object({
        Location: z.string().openapi({ description: 'Where to poll the status' }),
        'Idempotency-Replayed': z
          .literal('true')
          .optional()
          .openapi({ description: 'Present where the Idempotency-Key gave an earlier job again' }),
      }),
      links: {
        status: { operationId: 'getJobStatus', parameters: JOB_OF_BODY },
        result: { operationId: 'getJobResult', parameters: JOB_OF_BODY },
        cancel: { operationId: 'cancelJob', parameters: JOB_OF_BODY },
      },
    },
    ...problemResponses(
      'bad_json',
      'unauthorized',
      'body_too_large',
      'unsupported_media_type',
      'validation_failed',
      'path_not_allowed',
      'unknown_model',
      'invalid_model',
      'idempotency_key_reused',
      'queue_full',
      'internal_error',
      'storage_unavailable',
      'volume_unavailable',
      'model_not_ready',
      'shutting_down',
    ),
  },
};

const status: RouteConfig = {
  method: 'get',
  path: '/v1/jobs/{job_id}/status',
  operationId: 'getJobStatus',
  summary: 'Status of a job',
  tags,
  request: { params },
  responses: {
    200: json('The job as it is now', jobStatusSchema),
    ...problemResponses('unauthorized', 'job_not_found', 'internal_error', 'storage_unavailable'),
  },
};

const result: RouteConfig = {
  method: 'get',
  path: '/v1/jobs/{job_id}/result',
  operationId: 'getJobResult',
  summary: 'Result of a finished job',
  description:
    'A long result is sent in chunks while it is read, without Content-Length. A connection that breaks off before ' +
    'the last chunk has sent no JSON: ask again.',
  tags,
  request: { params },
  responses: {
    200: json('The job has ended, completed or failed', jobResultSchema),
    ...problemResponses(
      'unauthorized',
      'job_not_found',
      'job_not_finished',
      'internal_error',
      'storage_unavailable',
    ),
  },
};

const list: RouteConfig = {
  method: 'get',
  path: '/v1/jobs',
  operationId: 'listJobs',
  summary: 'List jobs, newest first',
  tags,
  request: { query: listQuerySchema },
  responses: {
    200: json('One page', jobListSchema),
    ...problemResponses(
      'unauthorized',
      'validation_failed',
      'internal_error',
      'storage_unavailable',
    ),
  },
};

const cancel: RouteConfig = {
  method: 'delete',
  path: '/v1/jobs/{job_id}',
  operationId: 'cancelJob',
  summary: 'Cancel a job',
  description: 'The job ends `failed` with the error code `cancelled`.',
  tags,
  request: { params },
  responses: {
    200: json('The job has ended', jobStatusSchema),
    ...problemResponses(
      'unauthorized',
      'job_not_found',
      'job_already_finished',
      'internal_error',
      'storage_unavailable',
    ),
  },
};

export function addJobRoutes(table: RouteTable, handlers: JobHandlers): void {
  table.add(submit, handlers.submit);
  table.add(status, handlers.status);
  table.add(result, handlers.result);
  table.add(list, handlers.list);
  table.add(cancel, handlers.cancel);
}
