/** Wire shapes of jobs. */
import { z } from '@hono/zod-openapi';
import { requestParameters } from '../../api/option-schemas.js';
import { JOB_STATUSES, JOB_TYPES, RETRIED_IMAGES } from '../../jobs/job.js';
import { problemSchema } from '../problem.schema.js';
import {
  NULL_IS_NOT_GIVEN,
  annotateSchema,
  classesSchema,
  imagePathSchema,
  modelNameSchema,
  vehicleTypesSchema,
} from '../request-fields.schema.js';
import { callbackUrlSchema, metadataSchema } from './submission-fields.schema.js';

/** As the service makes them. */
export const EXAMPLE_JOB_ID = 'job_AaH_VN9DaomsEEzKZw_XwcGU';

export const jobTypeSchema = z.enum(JOB_TYPES).openapi('JobType');
export const stateSchema = z.enum(JOB_STATUSES).openapi('JobState');

export const jobSubmitSchema = z
  .strictObject({
    job_type: jobTypeSchema,
    image_paths: z
      .array(imagePathSchema)
      .min(1)
      .openapi({
        description:
          'Images, folders or globs (`*`, `?`, `[]`, `{}`, `**`); folders and globs stand for their images in ' +
          'order of name. LATTICE_MAX_IMAGES_PER_JOB bounds the list and the images that come of it',
        example: ['street.jpg'],
      }),
    model_name: modelNameSchema.nullish(),
    ...requestParameters,
    vehicle_types: vehicleTypesSchema
      .openapi({
        description:
          'Classes of a detect_vehicles job, as in classes; other types ignore it. Default: those of car, motorcycle, ' +
          'bus and truck that the model has; if it has none of them, all its classes',
      })
      .nullish(),
    classes: classesSchema
      .openapi({
        description:
          'Classes of a detect_vehicles or batch_detect job: names of the classes of the model (see GET /v1/models), in ' +
          'any letter case; `*` for all. Not together with vehicle_types. batch_detect takes all without it',
      })
      .nullish(),
    priority: z
      .int()
      .min(0)
      .max(10)
      .openapi({ description: '10 is the most urgent', default: 0 })
      .nullish(),
    callback_url: callbackUrlSchema.nullish(),
    metadata: metadataSchema.nullish(),
    annotate: annotateSchema.nullish(),
  })
  .openapi('JobSubmit', {
    description: NULL_IS_NOT_GIVEN,
    example: {
      job_type: 'detect_cars',
      image_paths: ['street.jpg'],
      confidence_threshold: 0.5,
      priority: 5,
      metadata: { camera: 'north-gate' },
    },
  });

export type JobSubmitBody = z.infer<typeof jobSubmitSchema>;

export const failedImagesSchema = z
  .int()
  .openapi({ description: 'Images that ended in an error so far', example: 0 });
export const jobIdSchema = z.string().openapi({ example: EXAMPLE_JOB_ID });
/** Its format is said: some generators take 32 bits for a number without, which are a minute off. */
export const timestampSchema = z.number().openapi({
  format: 'double',
  description: 'Unix time in seconds, fractional',
  example: 1763722800.25,
});

export const jobAcceptedSchema = z
  .object({ job_id: jobIdSchema, status: stateSchema, message: z.string() })
  .openapi('JobAccepted', {
    example: { job_id: EXAMPLE_JOB_ID, status: 'pending', message: 'Job accepted.' },
  });

export const retryQuerySchema = z.strictObject({
  images: z
    .enum(RETRIED_IMAGES, { error: `images is one of ${RETRIED_IMAGES.join(', ')}.` })
    .optional()
    .openapi({ default: 'failed' }),
});

export const jobRetriedSchema = z
  .object({
    ...jobAcceptedSchema.shape,
    retry_of: jobIdSchema.openapi({ description: 'The job whose images are run again' }),
  })
  .openapi('JobRetried');

const webhookSchema = z
  .object({
    webhook_id: z.string().openapi({ description: 'The webhook-id header of every attempt' }),
    state: z.enum(['pending', 'delivered', 'gave_up']),
    attempts: z.int().openapi({ description: 'Attempts made so far' }),
    created_at: timestampSchema,
    next_attempt_at: timestampSchema.nullable(),
    last_status: z.int().nullable().openapi({ description: 'HTTP status of the last attempt' }),
    last_error: z.string().nullable(),
  })
  .openapi('WebhookDelivery');

export const jobStatusSchema = z
  .object({
    job_id: jobIdSchema,
    status: stateSchema,
    submitted_at: timestampSchema,
    started_at: timestampSchema.nullable(),
    completed_at: timestampSchema.nullable(),
    progress: z.number().min(0).max(1).openapi({ description: 'Finished images / all' }),
    worker_id: z.string().openapi({ description: 'Empty until a worker has the job' }),
    job_type: jobTypeSchema,
    title: z.string().openapi({
      description:
        'For people: `title` or `name` of the metadata, else the path of the first image',
    }),
    priority: z.int(),
    image_count: z.int(),
    finished_images: z.int(),
    failed_images: failedImagesSchema,
    retry_of: jobIdSchema
      .nullable()
      .openapi({ description: 'The job whose images this one runs again', example: null }),
    error: z.union([problemSchema, z.null()]),
    webhooks: z
      .array(webhookSchema)
      .optional()
      .openapi({ description: 'Present where a callback_url was given; empty until the job ends' }),
  })
  .openapi('JobStatus', {
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
      error: null,
    },
  });

export const jobListSchema = z
  .object({
    jobs: z.array(jobStatusSchema),
    next_cursor: z.string().nullable().openapi({ description: 'Null at the end' }),
    counts: z
      .record(stateSchema, z.int())
      .optional()
      .openapi({ description: 'With `counts=true`: jobs by state, for the other filters' }),
  })
  .openapi('JobList');

export type JobAcceptedBody = z.infer<typeof jobAcceptedSchema>;
export type JobRetriedBody = z.infer<typeof jobRetriedSchema>;
export type JobStatusBody = z.infer<typeof jobStatusSchema>;
export type WebhookBody = z.infer<typeof webhookSchema>;
export type JobListBody = z.infer<typeof jobListSchema>;
