/** `POST /v1/inference/detect`: valid input -> detector -> answer, within a deadline. */
import type { Config } from '../../config.js';
import { LatticeError } from '../../errors.js';
import type { DetectOptions } from '../../contract/detect-options.js';
import type { ImageResult, Timings } from '../../contract/image-result.js';
import { checkImagePath } from '../../jobs/image-paths.js';
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
import { withinDeadline } from './sync-deadline.js';
import { SyncAdmission } from './sync-admission.js';
import { DETECTION_DEFAULTS, defaultModelName, refuseLongLists } from '../request-defaults.js';

export function createDetectHandler(deps: AppDeps, catalogue: ModelCatalogue): RouteHandler {
  const admission = new SyncAdmission(
    deps.config.syncQueue,
    () => deps.detector.stats().imagesPerSecond,
  );
  return async (c) => {
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    const body = readRequest(await readJson(c, deps.config.maxBodyBytes), deps);
    const options = await toOptions(body, deps.config, catalogue);
    admission.enter();
    try {
      const result = await detect(c, deps, body.image_path, options);
      const file = body.annotate === true ? await drawn(deps, body.image_path, result) : undefined;
      return replyJson(c, 200, view(body.image_path, result, file), {
        'server-timing': serverTiming(result.timingsMs, result.processingTimeMs),
      });
    } finally {
      admission.leave();
    }
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
  try {
    return await withinDeadline(deadlineMs, c.req.raw.signal, (signal) =>
      deps.detector.detect({ path, options, class: 'sync', deadlineMs, signal }),
    );
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

/** A drawing that fails does not take the boxes with it. */
async function drawn(
  deps: AppDeps,
  path: string,
  result: ImageResult,
): Promise<string | undefined> {
  try {
    return await deps.annotate?.(path, result.detections);
  } catch (error) {
    deps.logger.warn({ err: error }, 'drawing failed');
    return undefined;
  }
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
