/** Job routes: methods, paths and every documented status. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { problemResponses } from '../problem.schema.js';
import type { RouteTable } from '../route-table.js';
import { MAX_IDEMPOTENCY_KEY } from './idempotency.js';
import { exportHeadersSchema, exportQuerySchema } from './export-view.js';
import type { JobHandlers } from './job.handlers.js';
import { listQuerySchema } from './job-list-query.js';
import { jobResultSchema } from './job-result.schema.js';
import {
  EXAMPLE_JOB_ID,
  jobAcceptedSchema,
  jobListSchema,
  jobStatusSchema,
  jobSubmitSchema,
} from './job.schema.js';

const tags = ['Jobs'];
export const params = z.object({ job_id: z.string().openapi({ example: EXAMPLE_JOB_ID }) });
const json = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } },
});

const JOB_OF_BODY = { job_id: '$response.body#/job_id' };

export const JOB_LINKS = {
  status: { operationId: 'getJobStatus', parameters: JOB_OF_BODY },
  result: { operationId: 'getJobResult', parameters: JOB_OF_BODY },
  cancel: { operationId: 'cancelJob', parameters: JOB_OF_BODY },
};

export const IDEMPOTENCY_HEADER = z.object({
  'Idempotency-Key': z.string().min(1).max(MAX_IDEMPOTENCY_KEY).optional().openapi({
    pattern: '^[!-~](?:[ -~]*[!-~])?$',
    description:
      'A repeat with the same key and body gives the first job again. Printable ASCII, bare or in quotes',
    example: 'camera-7-2026-11-21T10:00',
  }),
});

export const ACCEPTED_HEADERS = z.object({
  Location: z.string().openapi({ description: 'Where to poll the status' }),
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .openapi({ description: 'Present where the Idempotency-Key gave an earlier job again' }),
});

const submit: RouteConfig = {
  method: 'post',
  path: '/v1/jobs/submit',
  operationId: 'submitJob',
  summary: 'Submit a job',
  description:
    'Queues images as one job and answers once the job is on disk: from then on it survives a crash. Its status is ' +
    'polled, its events come over `/v1/stream`, and its result may be sent to `callback_url`.',
  tags,
  request: {
    headers: IDEMPOTENCY_HEADER,
    body: { required: true, content: { 'application/json': { schema: jobSubmitSchema } } },
  },
  responses: {
    202: {
      ...json('Accepted', jobAcceptedSchema),
      headers: ACCEPTED_HEADERS,
      links: JOB_LINKS,
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
  description:
    'How far the job is, since when and on which worker; for a job that has failed, the error.',
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
    'the last chunk has sent no JSON: ask again. The schema is that of `format=json`; docs/exports.md describes the ' +
    'other formats, which come as a file to save.',
  tags,
  request: { params, query: exportQuerySchema },
  responses: {
    200: {
      description: 'The job has ended, completed or failed',
      headers: exportHeadersSchema,
      content: {
        'application/json': { schema: jobResultSchema },
        'text/csv': { schema: z.string() },
        'application/x-ndjson': { schema: z.string() },
        'application/zip': { schema: z.string().openapi({ format: 'binary' }) },
      },
    },
    ...problemResponses(
      'unauthorized',
      'validation_failed',
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
  description:
    'One page of the jobs of the API key, filtered by status, type and time of submission. `next_cursor` gives the next.',
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
