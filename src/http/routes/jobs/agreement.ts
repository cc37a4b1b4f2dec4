/** `GET /v1/jobs/{job_id}/agreement`: how well another job over the same images agrees, with another model say. */
import { z } from '@hono/zod-openapi';
import type { Job } from '../../../store/job.js';
import { agreeJobs, type JobAgreement } from '../../../jobs/job-agreement.js';
import {
  agreementShape,
  leastAgreeingSchema,
  toWireAgreementFigures,
} from '../../../answers/agreement-figures.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { replyJson } from '../../answer/reply.js';
import { readQuery } from '../../request/query.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import {
  changesQuerySchema,
  comparisonOf,
  imageCountsSchema,
  isComplete,
  otherJob,
  toWireImageCounts,
} from './changes.js';
import {
  jobIdSchema,
  modelUsesSchema,
  stateSchema,
  toWireModelUses,
} from '../../../answers/job-fields.js';
import { JOB_ERRORS, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

const querySchema = changesQuerySchema.pick({ with: true });

const comparedJob = { job_id: jobIdSchema, status: stateSchema, models: modelUsesSchema };
const meanTime = z.number().nullable().openapi({
  description: 'Mean time of the network, of the images with boxes; null: there is none',
});

const jobAgreementSchema = z
  .object({
    ...comparedJob,
    with: z.object(comparedJob),
    complete: z.boolean().openapi({
      description: 'False while one of the jobs runs, and where images were left unread',
    }),
    image_counts: imageCountsSchema,
    ...agreementShape,
    least: z
      .array(
        leastAgreeingSchema
          .extend({
            index: z.int().openapi({ description: 'Place in the input of this job, from 0' }),
            with_index: z.int().openapi({ description: 'Place in the input of the other job' }),
          })
          .openapi('LeastAgreeingImage'),
      )
      .openapi({ description: 'The images that agree least, at most ten' }),
    first_ms: meanTime,
    second_ms: meanTime,
  })
  .openapi('JobAgreement');

export type JobAgreementBody = z.infer<typeof jobAgreementSchema>;

export function jobAgreementRoutes(route: AddRoute, parts: RouteParts): void {
  const { jobs, hide } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/agreement',
      operationId: 'getJobAgreement',
      summary: 'How well another job over the same images agrees',
      description:
        'The report on two models that ran over the same images as two jobs: this job is the first model, the other one the ' +
        'second. Images are the same by their path. Of jobs with different thresholds only boxes above the higher one count. Also ' +
        'while a job runs: of the images that both have processed. Each call compares anew, for 20 s at most. ' +
        `A question is asked of both jobs. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { params, query: querySchema.extend(questionShape) },
      answers: { 200: json('The agreement', jobAgreementSchema) },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS],
    },
    async (c) => {
      const { query, ask } = askedRequest(c);
      const given = readQuery(querySchema, query);
      const how = comparisonOf(c, hide);
      const { job, images, otherJob: asked } = await ask(parts);
      const other = asked(await otherJob(given.with, c, jobs));
      return replyJson(c, 200, toWire(job, other, await agreeJobs(images, job, other, how), hide));
    },
  );
}

function toWire(
  job: Job,
  other: Job,
  { images, least, inferenceMs, ...figures }: JobAgreement,
  hide: HideFolders,
): JobAgreementBody {
  const [first, second] = inferenceMs;
  return {
    ...toWireJob(job),
    with: toWireJob(other),
    complete: isComplete(job, other, images),
    image_counts: toWireImageCounts(images),
    ...toWireAgreementFigures(figures),
    least: least.map(({ picture: { path, index, otherIndex }, ...counts }) => ({
      ...counts,
      image_path: hide(path),
      index,
      with_index: otherIndex,
    })),
    first_ms: first,
    second_ms: second,
  };
}

const toWireJob = (job: Job) => ({
  job_id: job.jobId,
  status: job.status,
  models: toWireModelUses(job),
});
