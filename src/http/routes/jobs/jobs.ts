/** Jobs as they are: their list, the status of one, and its cancel. */
import { z } from '@hono/zod-openapi';
import { JOB_STATUSES, progressOf, type Job, type JobFilter } from '../../../jobs/job.js';
import type { WebhookDeliveryState } from '../../../jobs/webhook-delivery.js';
import {
  jobListSchema,
  jobStatusSchema,
  jobTypeSchema,
  type JobStatusBody,
  type WebhookBody,
} from '../../jobs/job.schema.js';
import { hideInProblem, type HideFolders } from '../../problem.js';
import { readQuery, wholeNumber } from '../../query.js';
import { replyJson } from '../../reply.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { shorten } from '../../validation.js';
import { JOB_ERRORS, jobId, jobOfPath, params } from './job-of-path.js';

const STATUS = `(?:${JOB_STATUSES.join('|')})`;

const timestamp = z
  .string()
  .regex(/^\d+(?:\.\d+)?$/, { error: 'A time is Unix seconds.' })
  .transform(Number)
  .openapi({ type: 'number', format: 'double', minimum: 0, description: 'Unix seconds' });

const status = z.enum(JOB_STATUSES, {
  error: ({ input }) => `'${shorten(String(input))}' is none of ${JOB_STATUSES.join(', ')}.`,
});

export const listQuerySchema = z.strictObject({
  status: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(status).min(1).max(16))
    .optional()
    .openapi({
      type: 'string',
      pattern: `^${STATUS}(?:,${STATUS}){0,15}$`,
      description: `One or more of ${JOB_STATUSES.join(', ')}, separated by commas`,
    }),
  job_type: jobTypeSchema.optional(),
  submitted_after: timestamp.optional(),
  submitted_before: timestamp.optional(),
  limit: wholeNumber('A limit', 1, 100)
    .optional()
    .openapi({ type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .openapi({ description: 'next_cursor of the page before' }),
  counts: z
    .enum(['true', 'false'], { error: 'counts is true or false.' })
    .optional()
    .openapi({ description: 'true: also how many jobs are in each state' }),
});

const DEFAULT_LIMIT = 20;

interface ListQuery {
  filter: JobFilter;
  page: { limit: number; cursor: string | null };
  counts: boolean;
}

/** Throws `validation_failed` for unknown, repeated or wrong parameters. */
function readListQuery(given: Record<string, string[]>, keyId: string | null): ListQuery {
  const query = readQuery(listQuerySchema, given);
  const filter: JobFilter = {
    keyId,
    status: query.status,
    jobType: query.job_type,
    submittedAfter: query.submitted_after,
    submittedBefore: query.submitted_before,
  };
  const page = { limit: query.limit ?? DEFAULT_LIMIT, cursor: query.cursor ?? null };
  return { filter, page, counts: query.counts === 'true' };
}

export function jobRoutes(route: AddRoute, { jobs, webhooks, hide }: RouteParts): void {
  const viewWhole = async (job: Job): Promise<JobStatusBody> => {
    const status = viewStatus(job, hide);
    if (job.spec.callbackUrl === null) return status;
    return { ...status, webhooks: (await webhooks.forJob(job.jobId)).map(viewDelivery) };
  };
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/status',
      operationId: 'getJobStatus',
      summary: 'Status of a job',
      description:
        'How far the job is, since when and on which worker; for a job that has failed, the error.',
      tags: ['Jobs'],
      request: { params },
      answers: { 200: json('The job as it is now', jobStatusSchema) },
      errors: JOB_ERRORS,
    },
    async (c) => replyJson(c, 200, await viewWhole(await jobOfPath(c, jobs))),
  );
  route(
    {
      method: 'get',
      path: '/v1/jobs',
      operationId: 'listJobs',
      summary: 'List jobs, newest first',
      description:
        'One page of the jobs of the API key, filtered by status, type and time of submission. `next_cursor` gives the next.',
      tags: ['Jobs'],
      request: { query: listQuerySchema },
      answers: { 200: json('One page', jobListSchema) },
      errors: ['storage_unavailable'],
    },
    async (c) => {
      const { filter, page, counts } = readListQuery(c.req.queries(), c.get('keyId'));
      const { jobs: found, nextCursor } = await jobs.list(filter, page);
      return replyJson(c, 200, {
        jobs: found.map((job) => viewStatus(job, hide)),
        next_cursor: nextCursor,
        ...(counts ? { counts: await jobs.countByStatus(filter) } : {}),
      });
    },
  );
  route(
    {
      method: 'delete',
      path: '/v1/jobs/{job_id}',
      operationId: 'cancelJob',
      summary: 'Cancel a job',
      description: 'The job ends `failed` with the error code `cancelled`.',
      tags: ['Jobs'],
      request: { params },
      answers: { 200: json('The job has ended', jobStatusSchema) },
      errors: [...JOB_ERRORS, 'job_already_finished'],
    },
    async (c) => replyJson(c, 200, await viewWhole(await jobs.cancel(jobId(c), c.get('keyId')))),
  );
}

/** Longer metadata is not searched for a title: a list has many jobs. */
const LONGEST_SEARCHED = 4_096;

function titleOf({ spec: { metadata }, firstPath }: Job): string {
  if (metadata === null || metadata.length > LONGEST_SEARCHED) return firstPath;
  const { title, name } = JSON.parse(metadata) as Record<string, unknown>;
  for (const text of [title, name]) if (typeof text === 'string' && text !== '') return text;
  return firstPath;
}

function viewStatus(job: Job, hide: HideFolders): JobStatusBody {
  return {
    job_id: job.jobId,
    status: job.status,
    submitted_at: job.submittedAt,
    started_at: job.startedAt,
    completed_at: job.completedAt,
    progress: progressOf(job),
    worker_id: job.workerId,
    job_type: job.spec.jobType,
    title: titleOf(job),
    priority: job.spec.priority,
    image_count: job.imageCount,
    finished_images: job.finishedImages,
    failed_images: job.failedImages,
    retry_of: job.retryOf,
    error: job.error === null ? null : hideInProblem(job.error, hide),
  };
}

/** Without the URL: it may carry a secret of the receiver's, and the submitter knows it. */
function viewDelivery(delivery: WebhookDeliveryState): WebhookBody {
  return {
    webhook_id: delivery.deliveryId,
    state: delivery.state,
    attempts: delivery.attemptsMade,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
  };
}
