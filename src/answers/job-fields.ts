/** Fields that several requests and answers about jobs have. */
import { z } from '@hono/zod-openapi';
import { FIGURE_ROWS, type FigureName } from '../api/job-figures.js';
import { snakeCase } from '../api/snake-case.js';
import { JOB_STATUSES, JOB_TYPES } from '../api/job-values.js';
import type { Job } from '../store/job.js';

/** A job id of the form that the service makes. */
export const EXAMPLE_JOB_ID = 'job_AaH_VN9DaomsEEzKZw_XwcGU';

export const jobTypeSchema = z.enum(JOB_TYPES).openapi('JobType');
export const stateSchema = z.enum(JOB_STATUSES).openapi('JobState');

/** Schemas of the figures by their names in the code, and by their HTTP names. */
export const figureSchemas = Object.fromEntries(
  FIGURE_ROWS.map(({ name, text }) => [name, z.int().openapi({ description: text, example: 0 })]),
) as Record<FigureName, z.ZodInt>;
export const figureFields = snakeCase(z.object(figureSchemas)).shape;

/** A model file and a precision that images ran on. */
const modelUse = snakeCase(
  z.object({
    model: z.string().openapi({
      description: "The model's own name, where that of the job is an alias",
      example: 'yolov8n.pt',
    }),
    modelDigest: z
      .string()
      .openapi({ description: 'As in the images', example: 'f75a8e4787ce638c' }),
    precision: z.string().openapi({ example: 'int8' }),
    images: z.int().openapi({ description: 'Images with a result that ran on it' }),
  }),
);
export const modelUsesSchema = z.array(z.object(modelUse.shape).openapi('ModelUse')).openapi({
  description:
    'What the images ran on so far. A job stays on the model file that it began with: there are several entries only where ' +
    'workers compute in different precisions, or where that file was gone after a restart',
});
export function toWireModelUses({ models }: Pick<Job, 'models'>): z.infer<typeof modelUsesSchema> {
  return models.map((use) => modelUse.toWire({ ...use, model: use.name, modelDigest: use.digest }));
}

/** Images of a cancelled job that did not run. */
export const notRunSchema = z.int().openapi({
  description:
    'Images that had no turn before the job was ended; they are not among the failed ones',
  example: 0,
});
export const uploadIdSchema = z.string().openapi({ example: 'up_k3Jx0qYtR2mV9sLw7BnZ4aPc' });
export const jobIdSchema = z.string().openapi({ example: EXAMPLE_JOB_ID });
/**
 * The schema states its format, because some generators take 32 bits for a number without a format, which are a minute
 * off.
 */
export const timestampSchema = z.number().openapi({
  format: 'double',
  description: 'Unix time in seconds, fractional',
  example: 1763722800.25,
});

/** The reused image in the entry of an image. */
export const reusedFromSchema = z
  .object({ job_id: jobIdSchema, index: z.int().openapi({ description: 'From 0' }) })
  .openapi('ReusedFrom', {
    description:
      'The image that ran: this one took over its result, because its file, the model and the options were the same. Absent in an image that ran',
  });
