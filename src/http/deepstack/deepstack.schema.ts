/** Answers as DeepStack and CodeProject.AI give them. Coordinates and times are integers: some clients read no others. */
import { z } from '@hono/zod-openapi';
import { picture } from '../inference/detect.schema.js';

export const visionFormSchema = z
  .object({
    image: picture,
    min_confidence: z.string().optional().openapi({
      description: 'Keep boxes with a score above this, 0 to 1, with a point or a comma',
      default: '0.4',
    }),
    api_key: z.string().optional().openapi({ description: 'In place of the Authorization header' }),
  })
  .openapi('DeepStackForm', { description: 'Other fields are ignored' });

const predictionSchema = z
  .object({
    label: z.string(),
    confidence: z.number(),
    x_min: z.int(),
    y_min: z.int(),
    x_max: z.int(),
    y_max: z.int(),
  })
  .openapi('DeepStackPrediction', { description: 'Pixels of the upright picture' });

export const visionAnswerSchema = z
  .object({
    success: z.literal(true),
    message: z.string(),
    error: z.null(),
    predictions: z.array(predictionSchema).openapi({ description: 'By confidence, highest first' }),
    count: z.int(),
    inferenceMs: z.int(),
    processMs: z.int(),
    analysisRoundTripMs: z.int(),
    moduleId: z.string(),
    moduleName: z.string(),
    command: z.enum(['detect', 'custom']),
    executionProvider: z.string(),
    canUseGPU: z.boolean(),
    code: z.literal(200),
    duration: z.literal(0),
  })
  .openapi('DeepStackAnswer');
export type VisionAnswer = z.infer<typeof visionAnswerSchema>;

export const failureSchema = z
  .object({
    success: z.literal(false),
    error: z.string(),
    code: z.int(),
    predictions: z.array(predictionSchema).max(0),
    duration: z.literal(0),
  })
  .openapi('DeepStackFailure');
export type Failure = z.infer<typeof failureSchema>;

export const modelNamesSchema = z
  .object({ success: z.literal(true), models: z.array(z.string()), code: z.literal(200) })
  .openapi('DeepStackModels');

const versionSchema = z
  .object({ major: z.int(), minor: z.int(), patch: z.int(), preRelease: z.string() })
  .openapi('DeepStackVersion');
export type Version = z.infer<typeof versionSchema>;

const status = {
  success: z.literal(true),
  message: z.string(),
  version: versionSchema,
  code: z.literal(200),
};
export const statusSchema = z.object(status).openapi('DeepStackStatus');
export const updateSchema = z
  .object({
    ...status,
    current: versionSchema,
    latest: versionSchema,
    updateAvailable: z.literal(false),
  })
  .openapi('DeepStackUpdate');
