/** A processed image over HTTP. */
import { z } from '@hono/zod-openapi';
import { countCars, countClasses } from '../boxes/class-counts.js';
import { fileFactsSchema, toWireFile } from '../api/schemas/file-read.js';
import { processedImageSchema, type ProcessedImage } from '../api/schemas/image.js';
import { snakeCase } from '../api/snake-case.js';

const processedImage = snakeCase(processedImageSchema.omit({ file: true, quantizedFrom: true }));
const { detections, ...others } = processedImage.shape;

/** Fields of every processed image beside its path. */
export const imageFields = {
  detections,
  car_count: z.int().openapi({ description: 'Detections of class car' }),
  total_count: z.int(),
  class_counts: z.record(z.string(), z.int()),
  ...others,
  file: fileFactsSchema.optional(),
  annotated_url: z
    .string()
    .optional()
    .openapi({ description: 'Drawn copy; present when annotate was asked for' }),
};

export type ImageFields = z.infer<z.ZodObject<typeof imageFields>>;

/** File name of a drawn copy -> where to fetch it. */
function annotatedUrl(file: string): string {
  return `/v1/annotated/${encodeURIComponent(file)}`;
}

export function toWireImage(image: ProcessedImage, annotatedFile?: string): ImageFields {
  const classCounts = countClasses(image.detections);
  const { detections, ...others } = processedImage.toWire(image);
  const fields: ImageFields = {
    detections,
    car_count: countCars(classCounts),
    total_count: detections.length,
    class_counts: Object.fromEntries(classCounts),
    ...others,
  };
  if (image.file !== undefined) fields.file = toWireFile(image.file);
  if (annotatedFile !== undefined) fields.annotated_url = annotatedUrl(annotatedFile);
  return fields;
}
