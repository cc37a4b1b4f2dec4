/** `POST /v1/inference/detect`: valid input, by path or with the picture -> detector -> answer, within a deadline. */
import { LatticeError } from '../../api/errors.js';
import { STAGES, type ImageResult, type Timings } from '../../api/image.js';
import type { DetectRequest } from '../../execution/detector.js';
import { checkImagePath } from '../../files/image-paths.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../json-body.js';
import type { ModelCatalogue } from '../model-catalogue.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route.js';
import { validate, validationFailed } from '../validation.js';
import { readDetectOptions } from './detect-options.js';
import {
  detectRequestSchema,
  type DetectRequestBody,
  type DetectResponseBody,
} from './detect.schema.js';
import { viewImage } from './image-view.js';
import { optionsFromTexts } from './options-from-texts.js';
import { IMAGE_FIELD, type Form } from '../uploads/read-form.js';
import { FORM_TYPE, PICTURE_TYPES, type Uploads } from '../uploads/uploads.js';
import { refuseLongLists } from '../request-defaults.js';

/** Requests with `annotate` in hand, each with a decoded picture. */
const MOST_DRAWN = 16;

const TYPES =
  'Send JSON (application/json) with an image_path, or the picture itself as ' +
  `${PICTURE_TYPES.join(', ')} or in a form (${FORM_TYPE}).`;

export function createDetectHandler(
  deps: AppDeps,
  catalogue: ModelCatalogue,
  uploads: Uploads,
): RouteHandler {
  const draw = boundedDrawing(deps);
  const answer = async (c: AppContext, body: DetectRequestBody, image?: Buffer) => {
    const asked = await readDetectOptions(body, deps.config, catalogue);
    const sent = image === undefined ? {} : { image };
    const run = () => detect(c, deps, { path: body.image_path, ...sent, class: 'sync', ...asked });
    const { result, file } =
      body.annotate === true ? await draw(image ?? body.image_path, run) : { result: await run() };
    return replyJson(c, 200, view(body.image_path, result, file), {
      'server-timing': serverTiming(result.timingsMs, result.processingTimeMs),
    });
  };
  const answerUpload = (c: AppContext) => {
    const query = optionsFromTexts(detectRequestSchema, new URL(c.req.url).searchParams);
    const toBody = ({ name, fields }: Form) => {
      // Generated clients send the defaults of the query beside a form.
      const options = { ...query, ...optionsFromTexts(detectRequestSchema, fields) };
      if ('image_path' in options) throw validationFailed([NO_PATH]);
      return readRequest({ ...options, image_path: name }, deps);
    };
    // What is wrong with the query is told before the picture is read.
    toBody({ name: IMAGE_FIELD, fields: [] });
    return uploads.receive(c, (upload) => answer(c, toBody(upload), upload.image));
  };
  return async (c) => {
    if (deps.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    if (uploads.isUpload(c)) return answerUpload(c);
    const body = readRequest(await readJson(c, deps.config.maxBodyBytes, TYPES), deps);
    checkImagePath(body.image_path, deps.config.imageRoots, '#/image_path');
    return answer(c, body);
  };
}

const NO_PATH = {
  detail: 'image_path and a picture exclude each other.',
  pointer: '#/image_path',
};

function readRequest(value: unknown, deps: AppDeps): DetectRequestBody {
  refuseLongLists(value, deps.config);
  return validate(detectRequestSchema, value);
}

/** Runs one image within its deadline, until its client is gone. Rejects with a `LatticeError`. */
export async function detect(
  c: AppContext,
  deps: AppDeps,
  request: DetectRequest,
): Promise<ImageResult> {
  try {
    return await deps.detector.detect({ ...request, signal: c.req.raw.signal });
  } catch (thrown) {
    if (!(thrown instanceof LatticeError)) {
      throw new LatticeError('detection_failed', 'The detection could not be dispatched.', {
        cause: thrown,
      });
    }
    // Only its own client, which is gone, or a stop of the service cancels a synchronous request.
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
  return async (image: string | Buffer, run: () => Promise<ImageResult>): Promise<Drawn> => {
    if (inHand >= MOST_DRAWN) {
      throw new LatticeError('overloaded', `${inHand} pictures are being drawn.`, {
        retryAfterS: 1,
      });
    }
    inHand += 1;
    try {
      const result = await run();
      const file = await deps.annotate(image, result.detections).catch((error: unknown) => {
        deps.logger.warn({ err: error }, 'drawing failed');
        return undefined;
      });
      return { result, file };
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
  const stages = STAGES.flatMap((stage) => {
    const ms = timings[stage];
    return ms === undefined ? [] : [`${stage};dur=${ms.toFixed(2)}`];
  });
  return [...stages, `total;dur=${totalMs.toFixed(2)}`].join(', ');
}
