/** Jobs as they are: their list, the status of one, what people write on it, its cancel and its removal. */
import { z } from '@hono/zod-openapi';
import { NO_FIGURES, toWireFigures } from '../../../api/job-figures.js';
import { readFilter } from '../../../api/job-filters.js';
import { changedLabels } from '../../../api/job-labels.js';
import { recordLabels, requestLabels } from '../../../api/schemas/job-label-schemas.js';
import { snakeCase } from '../../../api/snake-case.js';
import { notRunImages, progressOf, type ClassCounts, type Job } from '../../../store/job.js';
import { titleOf } from '../../../store/job-title.js';
import { problemSchema } from '../../../answers/problem-schema.js';
import { hideInProblem, type HideFolders } from '../../../answers/shown-problem.js';
import { readJson } from '../../request/json-body.js';
import { readQuery } from '../../request/query.js';
import { refuseLongLists } from '../../request/request-fields.js';
import { replyJson } from '../../answer/reply.js';
import { json, type AddRoute, type RouteSpec } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { validate } from '../../request/validation.js';
import {
  EXAMPLE_JOB_ID,
  figureSchemas,
  modelUsesSchema,
  toWireModelUses,
  jobIdSchema,
  jobTypeSchema,
  notRunSchema,
  stateSchema,
  timestampSchema,
  uploadIdSchema,
} from '../../../answers/job-fields.js';
import { JOB_ERRORS, jobId, jobOfPath, ofJob, params } from './job-of-path.js';
import { listQuerySchema } from './list-query.js';
import { deliverySchema, toWireDelivery } from './webhooks.js';

const HOUR_S = 3_600;

const statusWire = snakeCase(
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
        'For people: the name, else `title` or `name` of the metadata, else the first path as it was typed and how many more',
    }),
    modelName: z.string(),
    confidenceThreshold: z.number(),
    priority: z.int(),
    imageCount: z.int(),
    finishedImages: z.int(),
    ...figureSchemas,
    notRunImages: notRunSchema,
    totalCount: z.int().openapi({ description: 'Boxes so far' }),
    classCounts: z
      .record(z.string(), z.int())
      .openapi({ description: 'Boxes so far by class, most first' }),
    models: modelUsesSchema,
    retryOf: jobIdSchema
      .nullable()
      .openapi({ description: 'The job whose images this one runs again', example: null }),
    requestId: z.string().nullable().openapi({
      description:
        'X-Request-Id of the request that submitted it, in the log and in its webhook too. Null for jobs of watches and of the socket',
      example: null,
    }),
    ...recordLabels,
    kept: z.boolean().openapi({ description: 'It is not removed with the retention time' }),
    expiresAt: timestampSchema.nullable().openapi({
      description:
        'The earliest time at which the job and its results are removed, but for LATTICE_STORE_MAX_MB: time in which the ' +
        'service is stopped does not count. Null while the job has not ended, and where it is kept until it is deleted',
    }),
    upload: uploadIdSchema
      .nullable()
      .openapi({ description: 'The upload whose photos it has', example: null }),
    watch: z
      .string()
      .nullable()
      .openapi({ description: 'The name of the watch that made the job', example: null }),
    error: z.union([problemSchema, z.null()]),
    webhooks: z
      .array(deliverySchema)
      .optional()
      .openapi({ description: 'Present where a callback_url was given; empty until the job ends' }),
  }),
);

export const jobStatusSchema = z.object(statusWire.shape).openapi('JobStatus', {
  example: {
    job_id: EXAMPLE_JOB_ID,
    status: 'running',
    submitted_at: 1763722800.25,
    started_at: 1763722800.31,
    completed_at: null,
    progress: 0.5,
    worker_id: 'local-0',
    job_type: 'detect_cars',
    title: '2026/11/gate.jpg and 1 more',
    model_name: 'yolov8n.pt',
    confidence_threshold: 0.5,
    priority: 5,
    image_count: 2,
    finished_images: 1,
    ...toWireFigures(NO_FIGURES),
    not_run_images: 0,
    total_count: 3,
    class_counts: { car: 3 },
    models: [
      { model: 'yolov8n.pt', model_digest: 'f75a8e4787ce638c', precision: 'int8', images: 1 },
    ],
    retry_of: null,
    request_id: null,
    name: null,
    tags: ['gate'],
    notes: null,
    keep: 30,
    kept: true,
    expires_at: null,
    upload: null,
    watch: null,
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

const jobPatchSchema = z.strictObject(requestLabels).openapi('JobPatch', {
  description: 'Fields that are left out stay as they are; null makes one empty.',
  example: { name: 'North gate, Monday', tags: ['gate'], keep: true },
});

const deleteQuerySchema = z.strictObject({
  purge: z
    .enum(['true', 'false'], { error: 'purge is true or false.' })
    .optional()
    .openapi({ description: 'true: remove an ended job', default: 'false' }),
});

export type JobPatchBody = z.input<typeof jobPatchSchema>;
export type JobStatusBody = z.infer<typeof jobStatusSchema>;
export type JobListBody = z.infer<typeof jobListSchema>;

const READ_STATUS: RouteSpec = {
  method: 'get',
  path: '/v1/jobs/{job_id}/status',
  operationId: 'getJobStatus',
  summary: 'Status of a job',
  description:
    'How far the job is, since when and on which worker; for a job that has failed, the error.',
  ...ofJob,
  answers: { 200: json('The job as it is now', jobStatusSchema) },
};

const PATCH: RouteSpec = {
  method: 'patch',
  path: '/v1/jobs/{job_id}',
  operationId: 'patchJob',
  summary: 'Name, tag, annotate or keep a job',
  description:
    'Changes what people write on a job, also while it runs and after its end. Answers once the change is on disk.',
  tags: ['Jobs'],
  request: {
    params,
    body: { required: true, content: { 'application/json': { schema: jobPatchSchema } } },
  },
  answers: { 200: json('The job as it is now', jobStatusSchema) },
  errors: JOB_ERRORS,
};

const CANCEL: RouteSpec = {
  method: 'delete',
  path: '/v1/jobs/{job_id}',
  operationId: 'cancelJob',
  summary: 'Cancel a job, or remove an ended one',
  description:
    'The job ends `failed` with the error code `cancelled`. With `purge=true` a job that has ended is removed, also a ' +
    'kept one, with its results and its drawn copies: it cannot be brought back, and a webhook that is still to be ' +
    'sent is dropped. An older backup still has it.',
  tags: ['Jobs'],
  request: { params, query: deleteQuerySchema },
  answers: {
    200: json('The job has ended; with `purge`, the job that was removed', jobStatusSchema),
  },
  errors: [...JOB_ERRORS, 'job_already_finished', 'job_not_finished'],
};

export function jobRoutes(route: AddRoute, { jobs, webhooks, hide, config }: RouteParts): void {
  const ttlS = config.resultTtlHours * HOUR_S;
  const toWireWhole = async (job: Job): Promise<JobStatusBody> => {
    const [boxes = {}] = await jobs.classCounts([job]);
    const how = { hide, ttlS, boxes };
    if (job.spec.callbackUrl === null) return toWireStatus(job, how);
    return toWireStatus(job, how, (await webhooks.forJob(job.jobId)).map(toWireDelivery));
  };
  route(READ_STATUS, async (c) => replyJson(c, 200, await toWireWhole(await jobOfPath(c, jobs))));
  route(
    {
      method: 'get',
      path: '/v1/jobs',
      operationId: 'listJobs',
      summary: 'List jobs, newest first or in another order',
      description:
        'One page of the jobs of the API key that pass all filters. `next_cursor` gives the next.',
      tags: ['Jobs'],
      request: { query: listQuerySchema },
      answers: { 200: json('One page', jobListSchema) },
      errors: ['storage_unavailable'],
    },
    async (c) => {
      const query = readQuery(listQuerySchema, c.req.queries());
      const filter = { ...readFilter(query), keyId: c.get('keyId') };
      const page = { limit: query.limit, cursor: query.cursor ?? null, sort: query.sort };
      const { jobs: found, nextCursor } = await jobs.list(filter, page);
      const boxes = await jobs.classCounts(found);
      return replyJson(c, 200, {
        jobs: found.map((job, at) => toWireStatus(job, { hide, ttlS, boxes: boxes[at] ?? {} })),
        next_cursor: nextCursor,
        ...(query.counts === 'true' ? { counts: await jobs.countByStatus(filter) } : {}),
      });
    },
  );
  route(PATCH, async (c) => {
    const body = await readJson(c, config.maxBodyBytes);
    refuseLongLists(body, config);
    const changes = changedLabels(validate(jobPatchSchema, body));
    return replyJson(
      c,
      200,
      await toWireWhole(await jobs.relabel(jobId(c), c.get('keyId'), changes)),
    );
  });
  route(CANCEL, async (c) => {
    const { purge } = readQuery(deleteQuerySchema, c.req.queries());
    if (purge !== 'true') {
      return replyJson(c, 200, await toWireWhole(await jobs.cancel(jobId(c), c.get('keyId'))));
    }
    const removed = await toWireWhole(await jobOfPath(c, jobs));
    await jobs.remove(jobId(c), c.get('keyId'));
    return replyJson(c, 200, removed);
  });
}

interface ViewHow {
  hide: HideFolders;
  /** The retention time in seconds. */
  ttlS: number;
  boxes: ClassCounts;
}

function toWireStatus(
  job: Job,
  { hide, ttlS, boxes }: ViewHow,
  webhooks?: z.infer<typeof deliverySchema>[],
): JobStatusBody {
  const { labels, options } = job.spec;
  return statusWire.toWire({
    ...job.spec,
    ...job,
    ...labels,
    progress: progressOf(job),
    title: titleOf(job),
    modelName: options.modelName,
    confidenceThreshold: options.confidence,
    notRunImages: notRunImages(job),
    totalCount: Object.values(boxes).reduce((sum, each) => sum + each, 0),
    classCounts: boxes,
    kept: labels.keep !== false,
    expiresAt: expiryOf(job, ttlS),
    requestId: job.spec.origin?.requestId ?? null,
    models: toWireModelUses(job),
    upload: job.spec.upload ?? null,
    error: job.error && hideInProblem(job.error, hide),
    webhooks,
  });
}

/** Null: it is not known yet, or never. */
function expiryOf({ spec: { labels }, completedAt, keptUntil }: Job, ttlS: number): number | null {
  if (completedAt === null || labels.keep === true) return null;
  return Math.max(completedAt + ttlS, keptUntil ?? 0);
}
