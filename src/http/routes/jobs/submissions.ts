/** `POST /v1/jobs/submit` and `POST /v1/jobs/{job_id}/retry`: what makes a new job, once per Idempotency-Key. */
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { errorsOf, refuseWhileStopping, type ErrorCode } from '../../../api/errors.js';
import { RETRIED_IMAGES } from '../../../api/job-values.js';
import { isObject, withoutNulls } from '../../../api/json-object.js';
import type { Idempotency, Job, JobOrigin, RetriedRun } from '../../../store/job.js';
import { imagesText, type LeftOut } from '../../../api/left-out.js';
import { traceparentOf } from '../../../base/trace-context.js';
import type { JobService } from '../../../jobs/job-service.js';
import type { AppContext } from '../../app-env.js';
import { readJsonText } from '../../request/json-body.js';
import { modelNameSchema } from '../../request/request-fields.js';
import { refuseOtherModel } from '../../request/requested-classes.js';
import { readQuery } from '../../request/query.js';
import { memberText } from '../../request/sent-text.js';
import { replyJson } from '../../answer/reply.js';
import { json, type AddRoute, type RouteSpec } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { validationFailed } from '../../request/validation.js';
import { EXAMPLE_JOB_ID, jobIdSchema, stateSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, jobId, jobOfPath, notFinished, params } from './job-of-path.js';
import { jobSubmitSchema } from './read-submission.js';

const MAX_IDEMPOTENCY_KEY = 255;

const jobAcceptedSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    message: z.string().openapi({
      description:
        'For people: how many images the job has, and which pictures its folders and globs left out because their ' +
        'formats are not read',
    }),
  })
  .openapi('JobAccepted', {
    example: {
      job_id: EXAMPLE_JOB_ID,
      status: 'pending',
      message: 'Job accepted with 12 images; left out: 3 .heic.',
    },
  });

export const retryQuerySchema = z.strictObject({
  images: z
    .enum(RETRIED_IMAGES, { error: `images is one of ${RETRIED_IMAGES.join(', ')}.` })
    .optional()
    .openapi({ default: 'failed' }),
  model_name: modelNameSchema.optional().openapi({
    description:
      'Runs them on this model, with the same thresholds; to compare both with `agreement`',
  }),
});

export const jobRetriedSchema = z
  .object({
    ...jobAcceptedSchema.shape,
    retry_of: jobIdSchema.openapi({ description: 'The job whose images are run again' }),
  })
  .openapi('JobRetried');

export type JobAcceptedBody = z.infer<typeof jobAcceptedSchema>;
export type JobRetriedBody = z.infer<typeof jobRetriedSchema>;

const JOB_OF_BODY = { job_id: '$response.body#/job_id' };

const JOB_LINKS = {
  status: { operationId: 'getJobStatus', parameters: JOB_OF_BODY },
  result: { operationId: 'getJobResult', parameters: JOB_OF_BODY },
  cancel: { operationId: 'cancelJob', parameters: JOB_OF_BODY },
};

const IDEMPOTENCY_HEADER = z.object({
  'Idempotency-Key': z.string().min(1).max(MAX_IDEMPOTENCY_KEY).optional().openapi({
    pattern: '^[!-~](?:[ -~]*[!-~])?$',
    description:
      'A repeat with the same key and body gives the first job again. Printable ASCII, bare or in quotes',
    example: 'camera-7-2026-11-21T10:00',
  }),
});

const ACCEPTED_HEADERS = z.object({
  Location: z.string().openapi({ description: 'Where to poll the status' }),
  'Idempotency-Replayed': z
    .literal('true')
    .optional()
    .openapi({ description: 'Present where the Idempotency-Key gave an earlier job again' }),
});

const SUBMISSION_ERRORS = [
  ...errorsOf('model'),
  'unknown_view',
  'upload_not_found',
  'model_not_ready',
  'idempotency_key_reused',
  'queue_full',
  'shutting_down',
  'storage_unavailable',
] as const satisfies ErrorCode[];

const SUBMIT: RouteSpec = {
  method: 'post',
  path: '/v1/jobs/submit',
  operationId: 'submitJob',
  summary: 'Submit a job',
  description:
    'Queues images as one job and answers once the job is on disk: from then on it survives a crash. Its status is ' +
    'polled, its events come over `/v1/stream`, and its result may be sent to `callback_url`.',
  tags: ['Jobs'],
  request: {
    headers: IDEMPOTENCY_HEADER,
    body: { required: true, content: { 'application/json': { schema: jobSubmitSchema } } },
  },
  answers: {
    202: {
      ...json('Accepted', jobAcceptedSchema),
      headers: ACCEPTED_HEADERS,
      links: JOB_LINKS,
    },
  },
  errors: [...SUBMISSION_ERRORS, 'path_not_allowed', 'volume_unavailable', 'machine_overloaded'],
  pages: 'detects',
};

export function submissionRoutes(route: AddRoute, parts: RouteParts): void {
  const { catalogue, config, jobs, readSubmission, views } = parts;
  route(SUBMIT, async (c) => {
    const key = readIdempotencyKey(c);
    const { value, text } = await readJsonText(c, config.maxBodyBytes);
    const once = withFingerprint(key, value);
    const metadata = () => memberText(text, ['metadata']);
    let leftOut: LeftOut = {};
    const submission = await submitOnce(c, jobs, once, async () => {
      const sender = { keyId: c.get('keyId'), isForeign: c.get('foreignPage') };
      const read = await readSubmission(value, metadata, sender);
      leftOut = read.leftOut;
      c.set('modelName', read.spec.options.modelName);
      return jobs.submit({ ...read.spec, origin: originOf(c) }, once);
    });
    return replyAccepted(c, submission, leftOut);
  });
  route(
    {
      method: 'post',
      path: '/v1/jobs/{job_id}/retry',
      operationId: 'retryJob',
      summary: 'Run the failed images of a job again, or all',
      description:
        'Makes a new job of the images that have no boxes: those that failed and, in a job that was cancelled, those ' +
        'that had no turn; with `images=all` of every image. Thresholds, classes, without `model_name` also the model, priority, callback_url, ' +
        'metadata, annotate, name and tags are those of the first job, which stays as it is; notes and keep are not ' +
        'taken over. There is no body. Answers once the new job is on disk.',
      tags: ['Jobs'],
      request: { params, query: retryQuerySchema, headers: IDEMPOTENCY_HEADER },
      answers: {
        202: {
          ...json('Accepted', jobRetriedSchema),
          headers: ACCEPTED_HEADERS,
          links: JOB_LINKS,
        },
      },
      errors: [...JOB_ERRORS, ...SUBMISSION_ERRORS, 'job_not_finished', 'nothing_to_retry'],
    },
    async (c) => {
      const retryOf = jobId(c);
      const { images = 'failed', model_name: modelName } = readQuery(
        retryQuerySchema,
        c.req.queries(),
      );
      const wanted = { images, modelName };
      const request = retryRequest(retryOf, wanted);
      const once = withFingerprint(readIdempotencyKey(c), request);
      const submission = await submitOnce(c, jobs, once, async () => {
        // Refused where a submission of these images would be.
        refuseWhileStopping(parts);
        const job = await jobOfPath(c, jobs);
        if (job.completedAt === null) throw notFinished(job);
        const { options } = job.spec;
        await catalogue.check(modelName ?? options.modelName);
        if (modelName !== undefined) await refuseOtherModel(options, modelName, catalogue);
        views.refuseUnknown(options.view, c.get('keyId'));
        return jobs.retry(retryOf, c.get('keyId'), wanted, once, originOf(c));
      });
      return replyAccepted(c, submission, {}, { retry_of: retryOf });
    },
  );
}

/** The ids by which the job is found in the logs and the traces of its caller. */
function originOf(c: AppContext): JobOrigin {
  const trace = c.get('trace');
  const requestId = c.get('requestId');
  return trace === null ? { requestId } : { requestId, traceparent: traceparentOf(trace) };
}

interface Submission {
  job: Job;
  /** True where the Idempotency-Key gave an earlier job again. */
  replayed: boolean;
}

/**
 * `submit`, or the job of an earlier call with the same key where `submit` is refused: the files, the model or the job
 * that made the first call right may be gone since, the job of that call is not.
 */
async function submitOnce(
  c: AppContext,
  jobs: Pick<JobService, 'repeated'>,
  idempotency: Idempotency | undefined,
  submit: () => Promise<Submission>,
): Promise<Submission> {
  try {
    return await submit();
  } catch (thrown) {
    const repeated = idempotency && jobs.repeated(c.get('keyId'), idempotency);
    const job = await repeated?.catch(() => null);
    if (!job) throw thrown;
    return { job, replayed: true };
  }
}

function replyAccepted(
  c: AppContext,
  { job, replayed }: Submission,
  leftOut: LeftOut,
  more: Record<string, string> = {},
): Response {
  c.set('jobId', job.jobId);
  const body: JobAcceptedBody = {
    job_id: job.jobId,
    status: job.status,
    message: replayed
      ? 'Job was accepted before.'
      : `Job accepted with ${imagesText(job.imageCount, leftOut)}.`,
  };
  return replyJson(
    c,
    202,
    { ...body, ...more },
    {
      location: `/v1/jobs/${job.jobId}/status`,
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  );
}

/**
 * The fingerprint of a retry of failed images has the form of older releases, which had no choice: keys of those
 * releases still match.
 */
function retryRequest(retryOf: string, { images, modelName }: RetriedRun): object {
  return {
    retry_of: retryOf,
    ...(images === 'failed' ? {} : { images }),
    ...(modelName === undefined ? {} : { model_name: modelName }),
  };
}

/**
 * The key as the job store keeps it: bare or quoted in the header, scoped to its owner. Undefined without the header.
 * Throws `validation_failed` for an empty, over-long or unprintable key.
 */
function readIdempotencyKey(c: AppContext): string | undefined {
  const header = c.req.header('idempotency-key')?.trim();
  if (header === undefined) return undefined;
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY || !/^[\x20-\x7e]*$/.test(key)) {
    throw validationFailed([
      { detail: `Idempotency-Key has 1 to ${MAX_IDEMPOTENCY_KEY} printable ASCII characters.` },
    ]);
  }
  const keyId = c.get('keyId');
  return keyId === null ? key : `${keyId}:${key}`;
}

/**
 * The fingerprint tells a repeat from another request. It is the SHA-256 of the request with sorted keys: white space,
 * key order and fields that are null, which is as if they were not given, do not make another request.
 */
function withFingerprint(key: string | undefined, request: unknown): Idempotency | undefined {
  if (key === undefined) return undefined;
  const text = canonical(isObject(request) ? withoutNulls(request) : request);
  return { key, fingerprint: createHash('sha256').update(text).digest('hex') };
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
