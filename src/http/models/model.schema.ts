/** Wire shape of a model. */
import { z } from '@hono/zod-openapi';

const modelInputSchema = z.object({ width: z.int(), height: z.int() }).openapi('ModelInput');

export const modelSchema = z
  .object({
    name: z.string().openapi({ description: 'Use it as model_name' }),
    state: z.enum(['ready', 'available', 'refused']).openapi({
      description: 'ready: loaded. available: loaded on first use. refused: see reason',
    }),
    reason: z.string().nullable(),
    classes: z.array(z.string()),
    device: z.string().nullable(),
    precision: z.string().nullable(),
    input: z.union([modelInputSchema, z.null()]),
    memory_bytes: z
      .int()
      .nullable()
      .openapi({ format: 'int64', description: 'About; null while it is not loaded' }),
    licence: z.string().nullable(),
    bundled: z
      .boolean()
      .openapi({ description: 'True where a bundled model stands in for a file that is absent' }),
    is_default: z.boolean(),
  })
  .openapi('Model', {
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
