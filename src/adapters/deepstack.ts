/** The routes of DeepStack and CodeProject.AI that cameras' programs call; only with LATTICE_COMPAT=deepstack. */
import { z } from '@hono/zod-openapi';
import {
  LatticeError,
  refuseWhileStopping,
  toLatticeError,
  type ErrorCode,
} from '../api/errors.js';
import type { Detection, ImageResult } from '../api/schemas/image.js';
import { DEFAULT_PARAMETERS, DEFAULT_VEHICLES, type DetectOptions } from '../api/options.js';
import { defaultModelName } from '../models/model-folder.js';
import { presentedKey, type ApiKeys } from '../http/access/api-keys.js';
import type { AppDeps } from '../http/app-deps.js';
import type { AppContext } from '../http/app-env.js';
import { detect } from '../http/routes/detect.js';
import type { HideFolders } from '../answers/shown-problem.js';
import { logDefect } from '../http/answer/problem.js';
import { replyJson } from '../http/answer/reply.js';
import { modelNameSchema } from '../http/request/request-fields.js';
import { binary, json, type AddRoute, type RouteHandler, type RouteSpec } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';
import { FORM_TYPE } from '../http/request/picture-bodies.js';
import type { Adapter } from './adapter.js';
import { admitOwner } from './caller-key.js';

/** The default of DeepStack. Frigate sends none, and stops reading at the first box below it. */
const DEFAULT_CONFIDENCE = 0.4;
/** Frigate's table has so many rows and no check. */
const MOST_PREDICTIONS = 20;

/** DeepStack's own texts of errors, which some clients compare. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Incorrect api key',
  invalid_image: 'invalid image file',
  unsupported_image_format: 'invalid image file',
  image_too_large: 'invalid image file',
};
const NO_IMAGE = 'No valid image file found';

/**
 * Answers as DeepStack and CodeProject.AI give them. Coordinates and times are integers: some clients read no others.
 */
const visionFormSchema = z
  .object({
    image: binary,
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

const visionAnswerSchema = z
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
type VisionAnswer = z.infer<typeof visionAnswerSchema>;

const failureSchema = z
  .object({
    success: z.literal(false),
    error: z.string(),
    code: z.int(),
    predictions: z.array(predictionSchema).max(0),
    duration: z.literal(0),
  })
  .openapi('DeepStackFailure');
type Failure = z.infer<typeof failureSchema>;

const modelNamesSchema = z
  .object({ success: z.literal(true), models: z.array(z.string()), code: z.literal(200) })
  .openapi('DeepStackModels');

const versionSchema = z
  .object({ major: z.int(), minor: z.int(), patch: z.int(), preRelease: z.string() })
  .openapi('DeepStackVersion');
type Version = z.infer<typeof versionSchema>;

const statusFields = {
  success: z.literal(true),
  message: z.string(),
  version: versionSchema,
  code: z.literal(200),
};
const statusSchema = z.object(statusFields).openapi('DeepStackStatus');
const updateSchema = z
  .object({
    ...statusFields,
    current: versionSchema,
    latest: versionSchema,
    updateAvailable: z.literal(false),
  })
  .openapi('DeepStackUpdate');

const FAILURES = [400, 401, 404, 413, 415, 500, 503, 504];

const shared = {
  description: 'As DeepStack and CodeProject.AI have it; see docs/deepstack.md.',
  tags: ['Inference'],
  pages: 'detects' as const,
};
const answers = (schema: z.ZodType): RouteSpec['answers'] => ({
  200: json('Answered', schema),
  ...Object.fromEntries(FAILURES.map((status) => [status, json('Failed', failureSchema)])),
});
const body = { required: true, content: { [FORM_TYPE]: { schema: visionFormSchema } } };

/** A key may be a field of the form. The status routes take none. */
export const deepStack: Adapter = {
  paths: /^\/v1\/(?:vision|(?:server\/)?status)\//,
  addRoutes,
};

function addRoutes(route: AddRoute, parts: RouteParts): void {
  const { apiKeys, detector } = parts;
  const vision = answeringFailures(parts, createVisionHandler(parts));
  const list = answeringFailures(parts, async (c) => {
    await checkKey(c, apiKeys);
    const models = (await detector.models()).filter(({ state }) => state !== 'refused');
    const names = models.map(({ name }) => name.replace(/\.pt$/, ''));
    return replyJson(c, 200, { success: true, models: names, code: 200 });
  });
  for (const [method, operationId] of [
    ['post', 'deepStackModels'],
    ['get', 'deepStackListModels'],
  ] as const) {
    const path = '/v1/vision/custom/list';
    const summary = 'Names of models';
    route(
      { ...shared, method, path, operationId, summary, answers: answers(modelNamesSchema) },
      list,
    );
  }
  route(
    {
      ...shared,
      method: 'post',
      path: '/v1/vision/detection',
      operationId: 'deepStackDetect',
      summary: 'Vehicles in a picture, by the default model',
      request: { body },
      answers: answers(visionAnswerSchema),
    },
    vision,
  );
  // Added after the list, because it would match the path of the list too.
  route(
    {
      ...shared,
      method: 'post',
      path: '/v1/vision/custom/{model}',
      operationId: 'deepStackCustom',
      summary: 'All classes of a model, in a picture',
      request: { body, params: z.object({ model: z.string().openapi({ example: 'yolov8n' }) }) },
      answers: answers(visionAnswerSchema),
    },
    vision,
  );
  addStatusRoutes(route, parts.version);
}

function addStatusRoutes(route: AddRoute, text: string): void {
  const version = readVersion(text);
  const status = { success: true, message: text, version, code: 200 };
  const update = { ...status, current: version, latest: version, updateAvailable: false };
  for (const [prefix, id] of [
    ['/v1/status', ''],
    ['/v1/server/status', 'Server'],
  ] as const) {
    const get = (name: string, summary: string, schema: z.ZodType, content: object) => {
      route(
        {
          ...shared,
          method: 'get',
          path: `${prefix}/${name}`,
          operationId: `deepStack${id}${name}`,
          summary,
          security: [],
          answers: answers(schema),
        },
        (c) => replyJson(c, 200, content),
      );
    };
    get('ping', 'The service is there', statusSchema, status);
    get('version', 'Version of the service', statusSchema, status);
    get('updateavailable', 'Never an update', updateSchema, update);
  }
}

function readVersion(text: string): Version {
  const [numbers = '', ...preRelease] = text.split('-');
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  return { major, minor, patch, preRelease: preRelease.join('-') };
}

interface Wanted {
  modelName: string;
  /** Null: all. */
  classes: readonly string[] | null;
  command: VisionAnswer['command'];
}

/** The default model and its vehicles, or the model of the path and all its classes. */
function createVisionHandler(deps: RouteParts): RouteHandler {
  const { pictures } = deps;
  return async (c) => {
    const began = performance.now();
    refuseWhileStopping(deps);
    const isKeyKnown = presentedKey(c) !== undefined;
    // Check the key before the picture is read, where the key is known by then.
    if (isKeyKnown) await checkKey(c, deps.apiKeys);
    if (!pictures.isPicture(c)) throw new LatticeError('bad_request', NO_IMAGE);
    return pictures.receive(c, async ({ image, name, fields }) => {
      const form = new Map(fields);
      if (!isKeyKnown) await checkKey(c, deps.apiKeys, form.get('api_key'));
      const confidence = readConfidence(form.get('min_confidence'));
      const { command, ...wanted } = wantedOf(c, deps.config);
      const options: DetectOptions = {
        ...DEFAULT_PARAMETERS,
        ...wanted,
        confidence,
        maxDetections: MOST_PREDICTIONS,
      };
      const { syncDeadlineMs: deadlineMs } = deps.config;
      const request = { path: name, image, options, kind: 'sync', deadlineMs } as const;
      const result = await detect(c, deps, request);
      const totalMs = performance.now() - began;
      return replyJson(c, 200, toWireAnswer(result, deps, command, totalMs));
    });
  };
}

const checkKey = (c: AppContext, keys: ApiKeys | null, ofForm?: string): Promise<void> =>
  admitOwner(c, keys, ofForm, 'The API key is missing or unknown.');

/** Some clients write numbers as their machine's language does. */
function readConfidence(text = ''): number {
  if (text.trim() === '') return DEFAULT_CONFIDENCE;
  const value = Number(text.trim().replace(',', '.'));
  if (value > 1) throw wrong('min_confidence cannot be greater than 1');
  if (!(value >= 0)) throw wrong('Invalid value for min_confidence');
  return value;
}

const wrong = (detail: string) => new LatticeError('validation_failed', detail);

function wantedOf(c: AppContext, config: AppDeps['config']): Wanted {
  const named = c.req.param('model');
  if (named === undefined) {
    const modelName = defaultModelName(config);
    return { modelName, classes: DEFAULT_VEHICLES, command: 'detect' };
  }
  const { data: modelName } = modelNameSchema.safeParse(named);
  if (modelName === undefined) {
    throw new LatticeError('unknown_model', 'There is no model of this name.');
  }
  return { modelName, classes: null, command: 'custom' };
}

function toWireAnswer(
  result: ImageResult,
  { detector }: AppDeps,
  command: Wanted['command'],
  totalMs: number,
): VisionAnswer {
  const { device, gpus } = detector.stats();
  const predictions = result.detections
    .slice(0, MOST_PREDICTIONS)
    .map((detection) => prediction(detection, result.image));
  return {
    success: true,
    message: `${predictions.length} objects found`,
    error: null,
    predictions,
    count: predictions.length,
    inferenceMs: Math.round(result.timingsMs.inference),
    processMs: Math.round(result.processingTimeMs),
    analysisRoundTripMs: Math.round(totalMs),
    moduleId: 'lattice-core',
    moduleName: 'lattice-core',
    command,
    executionProvider: device.toUpperCase(),
    canUseGPU: gpus > 0,
    code: 200,
    duration: 0,
  };
}

function prediction(
  { box, confidence, class: name }: Detection,
  { width, height }: ImageResult['image'],
): VisionAnswer['predictions'][number] {
  const pixel = (value: number, most: number) => Math.min(Math.max(Math.round(value), 0), most);
  return {
    label: name.toLowerCase(),
    confidence,
    x_min: pixel(box[0], width),
    y_min: pixel(box[1], height),
    x_max: pixel(box[2], width),
    y_max: pixel(box[3], height),
  };
}

/** `handler`, whose errors are answered here and not as problems. */
function answeringFailures({ logger, hide }: RouteParts, handler: RouteHandler): RouteHandler {
  return async (c) => {
    try {
      return await handler(c);
    } catch (thrown) {
      const error = toLatticeError(thrown);
      logDefect(c, error, logger);
      return replyFailure(c, error, hide);
    }
  };
}

function replyFailure(c: AppContext, error: LatticeError, hide: HideFolders): Response {
  c.set('errorCode', error.code);
  const code = statusOf(error);
  const missing = error.errors?.some(({ pointer }) => pointer === '#/image') === true;
  const sentence = missing ? NO_IMAGE : (SENTENCES[error.code] ?? hide(error.message));
  const body: Failure = { success: false, error: sentence, code, predictions: [], duration: 0 };
  const retry = code === 503 || code === 429;
  const seconds = String(Math.max(1, Math.ceil(error.retryAfterS ?? 1)));
  return replyJson(c, code, body, retry ? { 'retry-after': seconds } : {});
}

function statusOf({ code, status }: LatticeError): number {
  if (code === 'unknown_model') return 404;
  return status === 422 ? 400 : status;
}
