/** A model over HTTP. */
import { z } from '@hono/zod-openapi';
import { modelDescriptionSchema } from '../../api/model.js';
import { snakeCase } from '../snake-case.js';

export const model = snakeCase(modelDescriptionSchema);

export const modelSchema = z.object(model.shape).openapi('Model', {
  example: {
    name: 'yolov8n.pt',
    state: 'ready',
    reason: null,
    classes: ['car', 'motorcycle', 'bus', 'truck'],
    device: 'CPU',
    precision: 'bf16',
    input: { width: 640, height: 640 },
    memory_bytes: 147_000_000,
    licence: 'Apache-2.0',
    bundled: true,
    is_default: true,
  },
});

export const modelListSchema = z.object({ models: z.array(modelSchema) }).openapi('ModelList');

export type ModelBody = z.infer<typeof modelSchema>;
export type ModelListBody = z.infer<typeof modelListSchema>;
