/** Request and answer of the synchronous detection. */
import { z } from '@hono/zod-openapi';
import {
  NULL_IS_NOT_GIVEN,
  annotateSchema,
  confidenceSchema,
  imagePathSchema,
  iouSchema,
  maxDetectionsSchema,
  modelNameSchema,
  vehicleTypesSchema,
} from '../request-fields.schema.js';
import { imageFields } from './detection.schema.js';

export const detectRequestSchema = z
  .strictObject({
    image_path: imagePathSchema,
    model_name: modelNameSchema.nullish(),
    confidence_threshold: confidenceSchema.nullish(),
    vehicle_types: vehicleTypesSchema.nullish(),
    iou_threshold: iouSchema.nullish(),
    max_detections: maxDetectionsSchema.nullish(),
    annotate: annotateSchema.nullish(),
  })
  .openapi('DetectRequest', {
    description: NULL_IS_NOT_GIVEN,
    example: { image_path: 'street.jpg', confidence_threshold: 0.5, vehicle_types: ['car'] },
  });

export type DetectRequestBody = z.infer<typeof detectRequestSchema>;

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
