/** `POST /v1/vision/detection` and `/v1/vision/custom/{model}`: one picture through the synchronous path. */
import type { DetectOptions } from '../../api/options.js';
import type { Detection, ImageResult } from '../../api/image.js';
import { LatticeError } from '../../api/errors.js';
import { DEFAULT_VEHICLES } from '../../models/class-filter.js';
import { defaultModelName } from '../../models/model-folder.js';
import { clientAddress, presentedKey, type ApiKeys } from '../api-keys.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { detect } from '../inference/detect.handler.js';
import { replyJson } from '../reply.js';
import { DETECTION_DEFAULTS } from '../request-defaults.js';
import { modelNameSchema } from '../request-fields.schema.js';
import type { RouteHandler } from '../route-table.js';
import type { Uploads } from '../uploads/uploads.js';
import type { VisionAnswer } from './deepstack.schema.js';
import { NO_IMAGE } from './failure.js';

/** The default of DeepStack. Frigate sends none, and stops reading at the first box below it. */
const DEFAULT_CONFIDENCE = 0.4;
/** Frigate's table has so many rows and no check. */
const MOST_PREDICTIONS = 20;

interface Wanted {
  modelName: string;
  /** Null: all. */
  classes: readonly string[] | null;
  command: VisionAnswer['command'];
}

/** The default model and its vehicles, or the model of the path and all its classes. */
export function createVisionHandler(deps: AppDeps, uploads: Uploads): RouteHandler {
  return async (c) => {
    const began = performance.now();
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    const headerKey = presentedKey((name) => c.req.header(name));
    // Before the picture is read, where the key is known by then.
    if (headerKey !== null) await checkKey(c, deps.apiKeys, headerKey);
    if (!uploads.isUpload(c)) throw new LatticeError('bad_request', NO_IMAGE);
    return uploads.receive(c, async ({ image, name, fields }) => {
      const form = new Map(fields);
      if (headerKey === null) await checkKey(c, deps.apiKeys, form.get('api_key') ?? '');
      const confidence = readConfidence(form.get('min_confidence'));
      const { command, ...wanted } = wantedOf(c, deps.config);
      const options: DetectOptions = {
        ...wanted,
        confidence,
        iou: DETECTION_DEFAULTS.iou,
        maxDetections: MOST_PREDICTIONS,
      };
      const { syncDeadlineMs: deadlineMs } = deps.config;
      const request = { path: name, image, options, class: 'sync', deadlineMs } as const;
      const result = await detect(c, deps, request);
      const totalMs = performance.now() - began;
      return replyJson(c, 200, view(result, deps, command, totalMs));
    });
  };
}

export async function checkKey(c: AppContext, keys: ApiKeys | null, key: string): Promise<void> {
  if (keys === null) return;
  const owner = key === '' ? null : await keys.owner(key, clientAddress(c));
  if (owner === null) throw new LatticeError('unauthorized', 'The API key is missing or unknown.');
  c.set('keyId', owner.keyId);
}

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

function view(
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
