/** Query and wire shapes of a page of a job's images, and of the summary of all of them. */
import { z } from '@hono/zod-openapi';
import { recordParameters } from '../../api/option-schemas.js';
import { IMAGE_OUTCOMES } from '../../jobs/job.js';
import { wholeNumber } from '../query.js';
import { failedImageSchema, processedImageSchema } from '../routes/jobs/result-record.js';
import { jobIdSchema, jobStatusSchema } from './job.schema.js';

const MOST_IMAGES = 500;
const DEFAULT_IMAGES = 100;
const LAST_INDEX = 999_999;

const confidence = z
  .string()
  .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, { error: 'A confidence is 0 to 1.' })
  .transform(Number);

export const imagesQuerySchema = z.strictObject({
  offset: wholeNumber('An offset', 0, LAST_INDEX).default(0).openapi({
    type: 'integer',
    minimum: 0,
    maximum: LAST_INDEX,
    default: 0,
    description: 'Where to begin, counted in the images that the filter lets through',
  }),
  limit: wholeNumber('A limit', 1, MOST_IMAGES)
    .default(DEFAULT_IMAGES)
    .openapi({ type: 'integer', minimum: 1, maximum: MOST_IMAGES, default: DEFAULT_IMAGES }),
  outcome: z
    .enum(IMAGE_OUTCOMES, { error: `An outcome is one of ${IMAGE_OUTCOMES.join(', ')}.` })
    .optional()
    .openapi({
      description:
        'found: with boxes; empty: without; failed: in error, and in a job that was cancelled without a turn; pending: ' +
        'not processed yet',
    }),
  class: z.string().min(1).max(256).optional().openapi({
    description: 'Images with a box of this class, as the model writes it',
    example: 'car',
  }),
  confidence_below: confidence.optional().openapi({
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Images with a box below this confidence',
    example: 0.4,
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

const { job_type, priority } = jobStatusSchema.shape;

const requestSchema = z
  .object({
    job_type,
    model_name: z.string(),
    ...recordParameters,
    classes: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Absent: all classes of the model' }),
    priority,
    annotate: z.boolean(),
    has_callback: z.boolean(),
  })
  .openapi('JobRequest', { description: 'As submitted, with defaults, without the paths' });

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
      .object({ found: z.int(), empty: z.int(), failed: z.int(), pending: z.int() })
      .openapi({ description: 'Images by outcome, as the filter of the images names it' }),
    total_count: z.int().openapi({ description: 'Boxes so far' }),
    classes: z.array(classSummarySchema).openapi({ description: 'Most boxes first' }),
    request: requestSchema,
    metadata: z.union([z.record(z.string(), z.unknown()), z.null()]),
  })
  .openapi('JobSummary');

export type JobImageBody = z.infer<typeof jobImageSchema>;
export type JobImagesBody = z.infer<typeof jobImagesSchema>;
export type JobSummaryBody = z.infer<typeof jobSummarySchema>;
