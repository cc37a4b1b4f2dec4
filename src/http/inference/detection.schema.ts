/** Wire shapes of boxes and of what came with them. */
import { z } from '@hono/zod-openapi';

export const detectionSchema = z
  .object({
    box: z.tuple([z.number(), z.number(), z.number(), z.number()]).openapi({
      description:
        'x1, y1, x2, y2: pixels of the source image after EXIF orientation, origin top left',
    }),
    confidence: z.number().min(0).max(1),
    class: z.string().openapi({ description: "The model's name of the class" }),
  })
  .openapi('Detection', {
    example: { box: [48.2, 120.5, 310.9, 287.1], confidence: 0.91, class: 'car' },
  });

const imageSizeSchema = z
  .object({ width: z.int(), height: z.int() })
  .openapi('ImageSize', { description: 'Size after EXIF orientation' });

const timingsSchema = z
  .object({
    queue: z.number(),
    decode: z.number(),
    preprocess: z.number(),
    inference: z.number(),
    postprocess: z.number(),
  })
  .openapi('Timings', { description: 'Milliseconds of each step' });

/** Fields that every processed image carries beside its path. */
export const imageFields = {
  detections: z.array(detectionSchema).openapi({ description: 'Highest confidence first' }),
  car_count: z.int().openapi({ description: 'Detections of class car' }),
  total_count: z.int(),
  class_counts: z.record(z.string(), z.int()),
  processing_time_ms: z.number(),
  image: imageSizeSchema,
  timings_ms: timingsSchema,
  truncated: z
    .boolean()
    .openapi({ description: 'True when the list was cut at the most detections allowed' }),
  annotated_url: z
    .string()
    .optional()
    .openapi({ description: 'Drawn copy; present when annotate was asked for' }),
};

export type ImageFields = z.infer<z.ZodObject<typeof imageFields>>;
