/** Fields of a processed image over HTTP. */
import { z } from '@hono/zod-openapi';
import { processedImageSchema } from '../../api/image.js';
import { snakeCase } from '../../api/snake-case.js';

export const processedImage = snakeCase(processedImageSchema);
const { detections, ...others } = processedImage.shape;

/** What every processed image has beside its path. */
export const imageFields = {
  detections,
  car_count: z.int().openapi({ description: 'Detections of class car' }),
  total_count: z.int(),
  class_counts: z.record(z.string(), z.int()),
  ...others,
  annotated_url: z
    .string()
    .optional()
    .openapi({ description: 'Drawn copy; present when annotate was asked for' }),
};

export type ImageFields = z.infer<z.ZodObject<typeof imageFields>>;
