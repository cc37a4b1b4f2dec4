/** `GET /v1/samples`: the pictures of a finished job that are most worth a label. */
import { z } from '@hono/zod-openapi';
import type { UnsureImage } from '../../../store/job.js';
import { replyJson } from '../../answer/reply.js';
import { readQuery, wholeNumber } from '../../request/query.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { jobIdSchema } from './job-fields.js';
import { JOB_ERRORS, JOB_ID, notFinished } from './job-of-path.js';

const MOST_SAMPLES = 1_000;
const DEFAULT_SAMPLES = 20;
/** Digits behind the point, as of confidences. */
const DIGITS = 6;

export const samplesQuerySchema = z.strictObject({
  job: z
    .string()
    .regex(JOB_ID, { error: 'A job is named by its job_id.' })
    .openapi({ description: 'Its job_id', example: 'job_01' }),
  n: wholeNumber('A number of samples', 1, MOST_SAMPLES)
    .default(DEFAULT_SAMPLES)
    .openapi({ default: DEFAULT_SAMPLES, description: 'Most samples' }),
});

const sampleSchema = z
  .object({
    index: z.int().openapi({ description: 'Place in the input of the job, from 0' }),
    image_path: z.string(),
    detections: z.int().openapi({ description: 'Boxes of the picture' }),
    class: z.string().openapi({ description: 'Of its least certain box' }),
    confidence: z.number().openapi({ description: 'Of its least certain box' }),
    margin: z.number().openapi({
      description: 'How far that is above the threshold of its class, else of the job',
    }),
    reason: z.string().openapi({
      example: 'A box of the class car has confidence 0.512, 0.012 above its threshold.',
    }),
  })
  .openapi('Sample');

export const samplesSchema = z
  .object({
    job_id: jobIdSchema,
    confidence_threshold: z.number(),
    samples: z.array(sampleSchema).openapi({ description: 'The smallest margin first' }),
  })
  .openapi('Samples');

export type SamplesBody = z.infer<typeof samplesSchema>;

export function sampleRoutes(route: AddRoute, { jobs }: RouteParts): void {
  route(
    {
      method: 'get',
      path: '/v1/samples',
      operationId: 'listSamples',
      summary: 'Pictures of a job that are most worth a label',
      description:
        'Pictures with the least certain boxes first: those whose confidence is nearest to their threshold. ' +
        'Labels of such pictures teach a model more than those of pictures that it is sure of. Pictures without a box are ' +
        'left out: a job with a lower threshold shows more.',
      tags: ['Jobs'],
      request: { query: samplesQuerySchema },
      answers: { 200: json('At most n samples', samplesSchema) },
      errors: [...JOB_ERRORS, 'job_not_finished', 'validation_failed'],
    },
    async (c) => {
      const { job: id, n } = readQuery(samplesQuerySchema, c.req.queries());
      c.set('jobId', id);
      const job = await jobs.get(id, c.get('keyId'));
      if (job.status === 'pending' || job.status === 'running') throw notFinished(job);
      const images = await jobs.unsureImages(job, n);
      const body: SamplesBody = {
        job_id: job.jobId,
        confidence_threshold: job.spec.options.confidence,
        samples: images.map(viewSample),
      };
      return replyJson(c, 200, body);
    },
  );
}

function viewSample(image: UnsureImage): SamplesBody['samples'][number] {
  const { index, path, boxes, confidence, class: name } = image;
  const margin = Number(image.margin.toFixed(DIGITS));
  return {
    index,
    image_path: path,
    detections: boxes,
    class: name,
    confidence,
    margin,
    reason: `A box of the class ${name} has confidence ${confidence}, ${margin} above its threshold.`,
  };
}
