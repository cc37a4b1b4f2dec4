/** `POST /v1/inference/detect`: valid input -> detector -> answer, within a deadline. */
import type { Config } from '../../config.js';
import { LatticeError } from '../../errors.js';
import type { DetectOptions } from '../../contract/detect-options.js';
import type { ImageResult, Timings } from '../../contract/image-result.js';
import { checkImagePath } from '../../jobs/image-paths.js';
import { defaultModelName } from '../../models/model-folder.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../json-body.js';
import type { ModelCatalogue } from '../models/model-catalogue.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import { validate, validationFailed } from '../validation.js';
import { resolveVehicleTypes } from '../vehicle-classes.js';
import {
  detectRequestSchema,
  type DetectRequestBody,
  type DetectResponseBody,
} from './detect.schema.js';
import { viewImage } from './image-view.js';
import { DETECTION_DEFAULTS, refuseLongLists } from '../request-defaults.js';

/** Requests with `annotate` in hand, each with a decoded picture. */
const MOST_DRAWN = 16;

export function createDetectHandler(deps: AppDeps, catalogue: ModelCatalogue): RouteHandler {
  const draw = boundedDrawing(deps);
  return async (c) => {
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    const body = readRequest(await readJson(c, deps.config.maxBodyBytes), deps);
    const options = await toOptions(body, deps.config, catalogue);
    const run = () => detect(c, deps, body.image_path, options);
    const { result, file } =
      body.annotate === true ? await draw(body.image_path, run) : { result: await run() };
    return replyJson(c, 200, view(body.image_path, result, file), {
      'server-timing': serverTiming(result.timingsMs, result.processingTimeMs),
    });
  };
}

function readRequest(value: unknown, deps: AppDeps): DetectRequestBody {
  refuseLongLists(value, deps.config);
  const body = validate(detectRequestSchema, value);
  checkImagePath(body.image_path, deps.config.imageRoots, '#/image_path');
  if (body.annotate === true && deps.annotate === undefined) {
    throw validationFailed([
      { detail: 'Drawing is not available on this service.', pointer: '#/annotate' },
    ]);
  }
  return body;
}

async function toOptions(
  body: DetectRequestBody,
  config: Config,
  catalogue: ModelCatalogue,
): Promise<DetectOptions> {
  const modelName = body.model_name ?? defaultModelName(config);
  return {
    modelName,
    confidence: body.confidence_threshold ?? DETECTION_DEFAULTS.confidence,
    iou: body.iou_threshold ?? DETECTION_DEFAULTS.iou,
    maxDetections: body.max_detections ?? DETECTION_DEFAULTS.maxDetections,
    classes: await resolveVehicleTypes(body.vehicle_types, modelName, catalogue),
  };
}

async function detect(
  c: AppContext,
  deps: AppDeps,
  path: string,
  options: DetectOptions,
): Promise<ImageResult> {
  const deadlineMs = deps.config.syncDeadlineMs;
  const { signal } = c.req.raw;
  try {
    return await deps.detector.detect({ path, options, class: 'sync', deadlineMs, signal });
  } catch (thrown) {
    if (!(thrown instanceof LatticeError)) {
      throw new LatticeError('detection_failed', 'The detection could not be dispatched.', {
        cause: thrown,
      });
    }
    // Nobody cancels a synchronous request but its own client, who is gone, or a service that stops.
    if (thrown.code === 'cancelled') {
      throw new LatticeError('shutting_down', 'The detection was given up.', { cause: thrown });
    }
    throw thrown;
  }
}

interface Drawn {
  result: ImageResult;
  /** Absent where the drawing failed: the boxes are answered without it. */
  file?: string | undefined;
}

/** Drawing is slower than detection: without a bound the pictures in memory would grow with the load. */
function boundedDrawing(deps: AppDeps) {
  let inHand = 0;
  return async (path: string, run: () => Promise<ImageResult>): Promise<Drawn> => {
    if (inHand >= MOST_DRAWN) {
      throw new LatticeError('overloaded', `${inHand} pictures are being drawn.`, {
        retryAfterS: 1,
      });
    }
    inHand += 1;
    try {
      const result = await run();
      const drawing = deps.annotate?.(path, result.detections).catch((error: unknown) => {
        deps.logger.warn({ err: error }, 'drawing failed');
        return undefined;
      });
      return { result, file: await drawing };
    } finally {
      inHand -= 1;
    }
  };
}

function view(path: string, result: ImageResult, file: string | undefined): DetectResponseBody {
  return {
    status: 'success',
    image_path: path,
    ...viewImage(result, file),
    model: result.model,
    worker_id: result.workerId,
  };
}

function serverTiming(timings: Timings, totalMs: number): string {
  const { queue, decode, preprocess, inference, postprocess } = timings;
  return (
    `queue;dur=${queue.toFixed(2)}, decode;dur=${decode.toFixed(2)}, ` +
    `preprocess;dur=${preprocess.toFixed(2)}, inference;dur=${inference.toFixed(2)}, ` +
    `postprocess;dur=${postprocess.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`
  );
}
