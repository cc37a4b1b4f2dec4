/** Jobs as they are: their list, the status of one, and its cancel. */
import { z } from '@hono/zod-openapi';
import { snakeCase } from '../../../api/snake-case.js';
import { JOB_STATUSES, progressOf, type Job } from '../../../jobs/job.js';
import { problemSchema } from '../../answer/problem.schema.js';
import { hideInProblem, type HideFolders } from '../../answer/problem.js';
import { readQuery, wholeNumber } from '../../request/query.js';
import { replyJson } from '../../answer/reply.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { shorten } from '../../request/validation.js';
import {
  EXAMPLE_JOB_ID,
  failedImagesSchema,
  jobIdSchema,
  jobTypeSchema,
  stateSchema,
  timestampSchema,
  uploadIdSchema,
} from './job-fields.js';
import { JOB_ERRORS, jobId, jobOfPath, ofJob } from './job-of-path.js';
import { deliverySchema, viewDelivery } from './webhooks.js';

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
  limit: wholeNumber('A limit', 1, 100).default(20).openapi({ default: 20 }),
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

const statusView = snakeCase(
  z.object({
    jobId: jobIdSchema,
    status: stateSchema,
    submittedAt: timestampSchema,
    startedAt: timestampSchema.nullable(),
    completedAt: timestampSchema.nullable(),
    progress: z.number().min(0).max(1).openapi({ description: 'Finished images / all' }),
    workerId: z.string().openapi({ description: 'Empty until a worker has the job' }),
    jobType: jobTypeSchema,
    title: z.string().openapi({
      description:
        'For people: `title` or `name` of the metadata, else the path of the first image',
    }),
    priority: z.int(),
    imageCount: z.int(),
    finishedImages: z.int(),
    failedImages: failedImagesSchema,
    retryOf: jobIdSchema
      .nullable()
      .openapi({ description: 'The job whose images this one runs again', example: null }),
    upload: uploadIdSchema
      .nullable()
      .openapi({ description: 'The upload whose photos it has', example: null }),
    error: z.union([problemSchema, z.null()]),
    webhooks: z
      .array(deliverySchema)
      .optional()
      .openapi({ description: 'Present where a callback_url was given; empty until the job ends' }),
  }),
);

export const jobStatusSchema = z.object(statusView.shape).openapi('JobStatus', {
  example: {
    job_id: EXAMPLE_JOB_ID,
    status: 'running',
    submitted_at: 1763722800.25,
    started_at: 1763722800.31,
    completed_at: null,
    progress: 0.5,
    worker_id: 'local-0',
    job_type: 'detect_cars',
    title: '2026/11/gate.jpg',
    priority: 5,
    image_count: 2,
    finished_images: 1,
    failed_images: 0,
    retry_of: null,
    upload: null,
    error: null,
  },
});

const jobListSchema = z
  .object({
    jobs: z.array(jobStatusSchema),
    next_cursor: z.string().nullable().openapi({ description: 'Null at the end' }),
    counts: z
      .record(stateSchema, z.int())
      .optional()
      .openapi({ description: 'With `counts=true`: jobs by state, for the other filters' }),
  })
  .openapi('JobList');

export type JobStatusBody = z.infer<typeof jobStatusSchema>;
export type JobListBody = z.infer<typeof jobListSchema>;

export function jobRoutes(route: AddRoute, { jobs, webhooks, hide }: RouteParts): void {
  const viewWhole = async (job: Job): Promise<JobStatusBody> => {
    if (job.spec.callbackUrl === null) return viewStatus(job, hide);
    return viewStatus(job, hide, (await webhooks.forJob(job.jobId)).map(viewDelivery));
  };
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/status',
      operationId: 'getJobStatus',
      summary: 'Status of a job',
      description:
        'How far the job is, since when and on which worker; for a job that has failed, the error.',
      ...ofJob,
      answers: { 200: json('The job as it is now', jobStatusSchema) },
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
      const query = readQuery(listQuerySchema, c.req.queries());
      const filter = {
        keyId: c.get('keyId'),
        status: query.status,
        jobType: query.job_type,
        submittedAfter: query.submitted_after,
        submittedBefore: query.submitted_before,
      };
      const page = { limit: query.limit, cursor: query.cursor ?? null };
      const { jobs: found, nextCursor } = await jobs.list(filter, page);
      return replyJson(c, 200, {
        jobs: found.map((job) => viewStatus(job, hide)),
        next_cursor: nextCursor,
        ...(query.counts === 'true' ? { counts: await jobs.countByStatus(filter) } : {}),
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
      ...ofJob,
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

function viewStatus(
  job: Job,
  hide: HideFolders,
  webhooks?: z.infer<typeof deliverySchema>[],
): JobStatusBody {
  const error = job.error && hideInProblem(job.error, hide);
  const upload = job.spec.upload ?? null;
  const more = { progress: progressOf(job), title: titleOf(job), upload, error, webhooks };
  return statusView.view({ ...job.spec, ...job, ...more });
}
