/** What a detection is asked for, apart from the image. */
import { z } from 'zod';

export const detectOptionsSchema = z.object({
  /** `model_name` of the HTTP interface, for example `yolov8n.pt`. */
  modelName: z.string(),
  /** Boxes with a score above this are kept, 0 to 1. */
  confidence: z.number(),
  /** Boxes of one class that overlap more than this are merged, 0 to 1. */
  iou: z.number(),
  maxDetections: z.number(),
  /** Names of the classes to keep, matched without letter case; null keeps all. */
  classes: z.array(z.string()).readonly().nullable(),
});

export type DetectOptions = z.infer<typeof detectOptionsSchema>;
