/** `GET /v1/samples`: the images of a finished job by margin, each with the reason for its place. */
import { z } from '@hono/zod-openapi';
import { thresholdsOf } from '../../../boxes/refine-detections.js';
import { rounded } from '../../../base/rounded.js';
import type { ImageEntry } from '../../../store/job.js';
import type { DetectOptions } from '../../../api/options.js';
import { replyJson } from '../../answer/reply.js';
import { readQuery, wholeNumber } from '../../request/query.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { jobIdSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, JOB_ID, notFinished } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

const MOST_SAMPLES = 1_000;
const DEFAULT_SAMPLES = 20;
/** Digits behind the point, as of confidences. */
const DIGITS = 6;

const samplesQuerySchema = z.strictObject({
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

const samplesSchema = z
  .object({
    job_id: jobIdSchema,
    confidence_threshold: z.number(),
    samples: z.array(sampleSchema).openapi({ description: 'The smallest margin first' }),
  })
  .openapi('Samples');

export type SamplesBody = z.infer<typeof samplesSchema>;

export function sampleRoutes(route: AddRoute, parts: RouteParts): void {
  const { jobs } = parts;
  route(
    {
      method: 'get',
      path: '/v1/samples',
      operationId: 'listSamples',
      summary: 'Pictures of a job that are most worth a label',
      description:
        'The images of `/v1/jobs/{job_id}/images?sort=margin` without their boxes, each with a reason. Pictures with ' +
        'the least certain boxes come first: those whose confidence is nearest to their threshold. ' +
        'Labels of such pictures teach a model more than those of pictures that it is sure of. Pictures without a box are ' +
        `left out: a lower confidence_threshold shows more. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { query: samplesQuerySchema.extend(questionShape) },
      answers: { 200: json('At most n samples', samplesSchema) },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS, 'job_not_finished', 'validation_failed'],
    },
    async (c) => {
      const { query, ask } = askedRequest(c);
      const { job: id, n } = readQuery(samplesQuerySchema, query);
      c.set('jobId', id);
      const { job, images } = await ask(parts, await jobs.get(id, c.get('keyId')));
      if (job.status === 'pending' || job.status === 'running') throw notFinished(job);
      const { options } = job.spec;
      const samples: SamplesBody['samples'] = [];
      for (;;) {
        const page = { offset: samples.length, limit: n - samples.length, sort: 'margin' } as const;
        const { entries, matching } = await images.filteredImages(job, {}, page);
        samples.push(...entries.map((entry) => toWireSample(entry, options)));
        if (entries.length === 0 || samples.length >= Math.min(n, matching)) break;
      }
      const body: SamplesBody = {
        job_id: job.jobId,
        confidence_threshold: options.confidence,
        samples,
      };
      return replyJson(c, 200, body);
    },
  );
}

function toWireSample(
  { index, path, outcome }: ImageEntry,
  options: DetectOptions,
): SamplesBody['samples'][number] {
  const thresholdOf = thresholdsOf(options);
  const boxes = outcome?.status === 'ok' ? outcome.detections : [];
  const margins = boxes.map(({ class: name, confidence }) => ({
    class: name,
    confidence,
    margin: rounded(confidence - thresholdOf(name), DIGITS),
  }));
  const least = margins.reduce((a, b) => (b.margin < a.margin ? b : a));
  const { class: name, confidence, margin } = least;
  return {
    index,
    image_path: path,
    detections: boxes.length,
    ...least,
    reason: `A box of the class ${name} has confidence ${confidence}, ${margin} above its threshold.`,
  };
}
