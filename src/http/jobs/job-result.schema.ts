/** Wire shapes of a job's results. */
import { z } from '@hono/zod-openapi';
import { imageFields } from '../inference/detection.schema.js';
import { problemSchema } from '../problem.schema.js';
import {
  EXAMPLE_JOB_ID,
  failedImagesSchema,
  jobIdSchema,
  stateSchema,
  timestampSchema,
} from './job.schema.js';

const singleResultSchema = z
  .object({ image_path: z.string(), ...imageFields, model: z.string(), worker_id: z.string() })
  .openapi('SingleImageResult');

export const processedImageSchema = z
  .object({
    image_path: z.string(),
    status: z.literal('ok'),
    ...imageFields,
    worker_id: z.string(),
  })
  .openapi('ProcessedImage');

export const failedImageSchema = z
  .object({ image_path: z.string(), status: z.literal('error'), error: problemSchema })
  .openapi('FailedImage');

const imageEntrySchema = z
  .discriminatedUnion('status', [processedImageSchema, failedImageSchema])
  .openapi('ImageEntry');

const totalsSchema = z
  .object({
    car_count: z.int(),
    total_count: z.int(),
    class_counts: z.record(z.string(), z.int()),
    succeeded: z.int(),
    failed: z.int(),
    processing_time_ms: z.number().openapi({ description: 'From start to end of the job' }),
    model: z.string(),
    worker_id: z.string().openapi({ description: 'Who ran the image that was stored last' }),
  })
  .openapi('MultiImageTotals');

// From the shapes: what `extend` makes is documented as the parent and more, and the parent may forbid it.
const multiResultSchema = z
  .object({
    images: z.array(imageEntrySchema).openapi({ description: 'One entry per input, same order' }),
    ...totalsSchema.shape,
  })
  .openapi('MultiImageResult');

export const jobResultSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    failed_images: failedImagesSchema,
    result: z.union([singleResultSchema, multiResultSchema, z.null()]),
    error: z.union([problemSchema, z.null()]),
    submitted_at: timestampSchema,
    completed_at: timestampSchema,
    // As a union: many generators lose the null of a map whose type is a list.
    metadata: z.union([z.record(z.string(), z.unknown()), z.null()]),
  })
  .openapi('JobResult');

/** What a webhook carries in place of a record that is too long for one message. */
export const jobDigestSchema = z
  .object({
    ...jobResultSchema.shape,
    result: totalsSchema,
    result_url: z.string().openapi({
      description: 'Path of the whole record, with `images`',
      example: `/v1/jobs/${EXAMPLE_JOB_ID}/result`,
    }),
  })
  .openapi('JobResultDigest');

export type SingleResultBody = z.infer<typeof singleResultSchema>;
export type MultiResultBody = z.infer<typeof multiResultSchema>;
export type ImageEntryBody = z.infer<typeof imageEntrySchema>;
export type JobResultBody = z.infer<typeof jobResultSchema>;
export type JobDigestBody = z.infer<typeof jobDigestSchema>;
