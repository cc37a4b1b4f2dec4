/** `GET /v1/jobs/{job_id}/images` and `/summary`: a job's images page by page, and all of them in figures. */
import { z } from '@hono/zod-openapi';
import { sumOfRegions } from '../../../boxes/class-counts.js';
import { regionCountsSchema } from '../../../api/schemas/image.js';
import { recordParameters } from '../../../api/schemas/option-schemas.js';
import { toWireParameters } from '../../../api/options.js';
import { CONFIDENCE_STEPS, IMAGE_OUTCOMES, IMAGE_SORTS } from '../../../api/job-values.js';
import {
  scoreFloorOf,
  withoutOutcome,
  type ImageEntry,
  type ImageTally,
  type Job,
} from '../../../store/job.js';
import { jsonList, splitList } from '../../../base/text-list.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { replyJson, replyJsonText } from '../../answer/reply.js';
import { readQuery, wholeNumber } from '../../request/query.js';
import { json, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { jobIdSchema, jobTypeSchema } from '../../../answers/job-fields.js';
import { JOB_ERRORS, ofJob, params } from './job-of-path.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';
import {
  failedImageSchema,
  processedImageSchema,
  toWireEntry,
  withMetadata,
} from '../../../answers/result-record.js';

const MOST_IMAGES = 500;
const DEFAULT_IMAGES = 100;
const LAST_INDEX = 999_999;
const MOST_CLASSES = 100;
const MOST_NAME = 256;

export const confidence = z
  .string()
  .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, { error: 'A confidence is 0 to 1.' })
  .transform(Number);

/** Class names of a query: one or more. */
export const classNames = z
  .string()
  .transform((text) => jsonList(text) ?? splitList(text, ','))
  .pipe(z.array(z.string().min(1).max(MOST_NAME)).min(1).max(MOST_CLASSES));

export const imagesQuerySchema = z.strictObject({
  offset: wholeNumber('An offset', 0, LAST_INDEX).default(0).openapi({
    default: 0,
    description: 'Where to begin, counted in the images that the filter lets through',
  }),
  limit: wholeNumber('A limit', 1, MOST_IMAGES)
    .default(DEFAULT_IMAGES)
    .openapi({ default: DEFAULT_IMAGES }),
  outcome: z
    .enum(IMAGE_OUTCOMES, { error: `An outcome is one of ${IMAGE_OUTCOMES.join(', ')}.` })
    .optional()
    .openapi({
      description:
        'found: with boxes; empty: without; failed: in error; pending: not processed yet; not_run: without a turn, ' +
        'because the job was cancelled before',
    }),
  class: classNames.optional().openapi({
    type: 'string',
    description:
      'Images with a box of one of these classes, as the model writes them: separated by commas, or a JSON array',
    example: 'car,bus',
  }),
  confidence_below: confidence.optional().openapi({
    type: 'number',
    minimum: 0,
    maximum: 1,
    description:
      'Images with a box below this confidence; with `class`, a box of one of these classes below it',
    example: 0.4,
  }),
  sort: z
    .enum(IMAGE_SORTS, { error: `sort is one of ${IMAGE_SORTS.join(', ')}.` })
    .default('input')
    .openapi({
      default: 'input',
      description:
        'input: as the job has them. margin: images with a box only, the one with the box nearest to its threshold ' +
        '(that of its class, else of the job) first: labels of these teach a model most',
    }),
});

const indexSchema = z.int().openapi({ description: 'Place in the input, from 0' });

const pendingImageSchema = z
  .object({ index: indexSchema, image_path: z.string(), status: z.literal('pending') })
  .openapi('PendingJobImage');

const jobImageSchema = z
  .discriminatedUnion('status', [
    z.object({ index: indexSchema, ...processedImageSchema.shape }).openapi('ProcessedJobImage'),
    z.object({ index: indexSchema, ...failedImageSchema.shape }).openapi('FailedJobImage'),
    pendingImageSchema,
  ])
  .openapi('JobImage');

export const jobImagesSchema = z
  .object({
    images: z.array(jobImageSchema),
    matching: z.int().openapi({ description: 'Images that the filter lets through in all' }),
    next_offset: z
      .int()
      .nullable()
      .openapi({ description: 'Offset of the next page; null at the end' }),
  })
  .openapi('JobImages');

const requestSchema = z
  .object({
    job_type: jobTypeSchema,
    model_name: z.string(),
    ...recordParameters,
    classes: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Absent: all classes of the model' }),
    priority: z.int(),
    annotate: z.boolean(),
    places: z.boolean(),
    has_callback: z.boolean(),
  })
  .openapi('JobRequest', {
    description:
      'As submitted, with defaults, without the paths; of another question, with its options',
  });

const classSummarySchema = z
  .object({
    class: z.string(),
    boxes: z.int(),
    confidence_histogram: z
      .array(z.int())
      .openapi({ description: 'Boxes by confidence, in 20 equal steps from 0 to 1' }),
  })
  .openapi('ClassSummary');

export const jobSummarySchema = z
  .object({
    job_id: jobIdSchema,
    images: z
      .object({
        found: z.int(),
        empty: z.int(),
        failed: z.int(),
        pending: z.int(),
        not_run: z.int(),
      })
      .openapi({ description: 'Images by outcome, as the filter of the images names it' }),
    total_count: z.int().openapi({ description: 'Boxes so far' }),
    classes: z.array(classSummarySchema).openapi({ description: 'Most boxes first' }),
    region_counts: regionCountsSchema.optional(),
    score_floor: z.number().openapi({
      description:
        'The job keeps the boxes of each image above this score: another question can have any threshold from here on. ' +
        'Jobs of earlier releases keep those above their own threshold',
    }),
    left_out: z.record(z.string(), z.int()).openapi({
      description:
        'Files beside its images that it does not have, by kind: pictures whose formats are not read, and what an upload ' +
        'left out',
      example: { HEIC: 6, video: 1 },
    }),
    request: requestSchema,
    metadata: z.union([z.record(z.string(), z.unknown()), z.null()]),
  })
  .openapi('JobSummary');

export type JobImageBody = z.infer<typeof jobImageSchema>;
export type JobImagesBody = z.infer<typeof jobImagesSchema>;
export type JobSummaryBody = z.infer<typeof jobSummarySchema>;

export function jobImageRoutes(route: AddRoute, parts: RouteParts): void {
  const { hide } = parts;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/images',
      operationId: 'listJobImages',
      summary: 'A page of the images of a job',
      description:
        'In input order or by margin, also while the job runs. A page has at most `limit` images and about ' +
        '128 KiB of boxes, so it may have fewer: `next_offset` gives the next. Any offset can be asked for. The filters ' +
        `hold together: \`class\` and \`confidence_below\` ask for one box that fits both. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { params, query: imagesQuerySchema.extend(questionShape) },
      answers: { 200: json('One page', jobImagesSchema) },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS],
    },
    async (c) => {
      const { query, ask } = askedRequest(c);
      const given = readQuery(imagesQuerySchema, query);
      const { outcome, confidence_below, class: classes, ...page } = given;
      const filter = { outcome, classes, confidenceBelow: confidence_below };
      const { job, images } = await ask(parts);
      const { entries, matching } = await images.filteredImages(job, filter, page);
      const next = page.offset + entries.length;
      const body: JobImagesBody = {
        images: entries.map((entry) => toWireJobImage(job, entry, hide)),
        matching,
        next_offset: entries.length > 0 && next < matching ? next : null,
      };
      return replyJson(c, 200, body);
    },
  );
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/summary',
      operationId: 'getJobSummary',
      summary: 'A job in figures',
      description:
        'Images by outcome, boxes by class and confidence, and what was asked for; also while the job runs. It takes the ' +
        `same time for boxes of any number, but for another question. ${ASKS_AGAIN}`,
      ...ofJob,
      request: { params, query: z.object(questionShape) },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS],
      answers: { 200: json('The figures so far', jobSummarySchema) },
    },
    async (c) => {
      const { job, images } = await askedRequest(c).ask(parts);
      const figures = toWireSummary(job, await images.tally(job));
      return replyJsonText(c, 200, withMetadata(figures, job));
    },
  );
}

function toWireJobImage(job: Job, entry: ImageEntry, hide: HideFolders): JobImageBody {
  const { index, path, outcome } = entry;
  if (outcome === null && withoutOutcome(job) === 'pending') {
    return { index, image_path: path, status: 'pending' };
  }
  return { index, ...toWireEntry(job, entry, hide) };
}

function toWireSummary(
  job: Job,
  { found, empty, failed, boxes, regions }: ImageTally,
): Omit<JobSummaryBody, 'metadata'> {
  const { spec, imageCount } = job;
  const { options } = spec;
  const left = Math.max(0, imageCount - found - empty - failed);
  const classes = new Map<string, number[]>();
  for (const { class: name, step, boxes: count } of boxes) {
    const histogram = classes.get(name) ?? Array.from({ length: CONFIDENCE_STEPS }, () => 0);
    histogram[step] = count;
    classes.set(name, histogram);
  }
  const rows = [...classes].map(([name, histogram]) => ({
    class: name,
    boxes: sum(histogram),
    confidence_histogram: histogram,
  }));
  return {
    job_id: job.jobId,
    images: { found, empty, failed, pending: 0, not_run: 0, [withoutOutcome(job)]: left },
    total_count: sum(rows.map((row) => row.boxes)),
    classes: rows.sort((a, b) => b.boxes - a.boxes),
    region_counts: sumOfRegions(regions),
    score_floor: scoreFloorOf(spec),
    left_out: spec.leftOut ?? {},
    request: {
      job_type: spec.jobType,
      model_name: options.modelName,
      ...toWireParameters(options),
      ...(options.classes === null ? {} : { classes: [...options.classes] }),
      priority: spec.priority,
      annotate: spec.annotate,
      places: spec.places,
      has_callback: spec.callbackUrl !== null,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
