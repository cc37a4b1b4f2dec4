/** Request and answer of the synchronous detection. */
import { z } from '@hono/zod-openapi';
import { requestParameters } from '../../api/option-schemas.js';
import {
  NULL_IS_NOT_GIVEN,
  annotateSchema,
  classesSchema,
  imagePathSchema,
  modelNameSchema,
  vehicleTypesSchema,
} from '../request-fields.schema.js';
import { imageFields } from './detection.schema.js';

const deadlineSchema = z
  .int()
  .min(1)
  .openapi({
    description:
      'Milliseconds within which the answer is wanted, at most LATTICE_SYNC_DEADLINE_MS, which is the default. A ' +
      'request that the present rate cannot answer in time is refused at once with `overloaded` and Retry-After',
    example: 500,
  });

/** All that a synchronous request may say beside its image. */
export const detectFields = {
  model_name: modelNameSchema.nullish(),
  ...requestParameters,
  vehicle_types: vehicleTypesSchema.nullish(),
  classes: classesSchema.nullish(),
  annotate: annotateSchema.nullish(),
  deadline_ms: deadlineSchema.nullish(),
};
export type DetectFields = z.infer<z.ZodObject<typeof detectFields>>;

export const detectRequestSchema = z
  .strictObject({ image_path: imagePathSchema, ...detectFields })
  .openapi('DetectRequest', {
    description: NULL_IS_NOT_GIVEN,
    example: { image_path: 'street.jpg', confidence_threshold: 0.5, classes: ['car'] },
  });

export type DetectRequestBody = z.infer<typeof detectRequestSchema>;

export const picture = z.string().openapi({ format: 'binary' });

/** The options of a request as texts; for the documentation only, as `detectRequestSchema` checks them. */
export const textOptions: Record<string, z.ZodType> = Object.fromEntries(
  Object.entries(detectRequestSchema.shape)
    .filter(([name]) => name !== 'image_path')
    .map(([name, field]) => [name, withoutNull(field as z.ZodType).optional()]),
);

function withoutNull(field: z.ZodType): z.ZodType {
  const isWrapped = field instanceof z.ZodOptional || field instanceof z.ZodNullable;
  return isWrapped ? withoutNull(field.unwrap() as z.ZodType) : field;
}

export const detectFormSchema = z
  .object({ image: picture, ...textOptions })
  .openapi('DetectForm', { description: 'The picture and options; lists are separated by commas' });

export const detectResponseSchema = z
  .object({
    status: z.literal('success'),
    image_path: z.string(),
    ...imageFields,
    model: z.string(),
    worker_id: z.string(),
  })
  .openapi('DetectResponse', {
    example: {
      status: 'success',
      image_path: 'street.jpg',
      detections: [{ box: [48.2, 120.5, 310.9, 287.1], confidence: 0.91, class: 'car' }],
      car_count: 1,
      total_count: 1,
      class_counts: { car: 1 },
      processing_time_ms: 15.8,
      image: { width: 640, height: 480 },
      timings_ms: { queue: 0.1, decode: 2.1, preprocess: 0.4, inference: 12.9, postprocess: 0.3 },
      truncated: false,
      model: 'yolov8n.pt',
      worker_id: 'local-0',
    },
  });

export type DetectResponseBody = z.infer<typeof detectResponseSchema>;
