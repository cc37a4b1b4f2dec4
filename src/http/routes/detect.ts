/** `POST /v1/inference/detect`: an image, by path or with the request, to its boxes within a deadline. */
import { z } from '@hono/zod-openapi';
import { errorsOf, LatticeError, refuseWhileStopping } from '../../api/errors.js';
import { STAGES, type ImageResult, type Timings } from '../../api/schemas/image.js';
import { requestParameters } from '../../api/schemas/option-schemas.js';
import { requestFields } from '../../api/schemas/submission-field-schemas.js';
import { readParameters, type DetectOptions } from '../../api/options.js';
import type { DetectRequest } from '../../execution/detector.js';
import { checkImagePath } from '../../files/image-paths.js';
import { defaultModelName } from '../../models/model-folder.js';
import { imageFields, toWireImage } from '../../answers/processed-image.js';
import { replyJson } from '../answer/reply.js';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../request/json-body.js';
import { optionsFromTexts, unwrapped } from '../request/options-from-texts.js';
import { IMAGE_FIELD, type Form } from '../request/read-form.js';
import { refuseUnknownClasses, requestedClasses } from '../request/requested-classes.js';
import {
  NULL_IS_NOT_GIVEN,
  classesSchema,
  imagePathSchema,
  modelNameSchema,
  refuseForOwnPages,
  refuseLongLists,
  refuseRegionsAndView,
  vehicleTypesSchema,
} from '../request/request-fields.js';
import { FORM_TYPE, PICTURE_TYPES } from '../request/picture-bodies.js';
import { validate, validationFailed } from '../request/validation.js';
import { binary, json, type AddRoute, type RouteHandler } from '../route.js';
import type { RouteParts } from '../route-parts.js';

/** Requests with `annotate` in hand, each with a decoded picture. */
const MOST_DRAWN = 16;

const TYPES =
  'Send JSON (application/json) with an image_path, or the picture itself as ' +
  `${PICTURE_TYPES.join(', ')} (or application/octet-stream) or in a form (${FORM_TYPE}).`;

const NO_PATH = {
  detail: 'image_path and a picture exclude each other.',
  pointer: '#/image_path',
};

const deadlineSchema = z
  .int()
  .min(1)
  .openapi({
    description:
      'Milliseconds within which the answer is wanted, at most LATTICE_SYNC_DEADLINE_MS, which is the default. A ' +
      'request that the present rate cannot answer in time is refused at once with `overloaded` and Retry-After',
    example: 500,
  });

/** All that a synchronous request may say beside its image. */
const detectFields = {
  model_name: modelNameSchema.nullish(),
  ...requestParameters,
  vehicle_types: vehicleTypesSchema.nullish(),
  classes: classesSchema.nullish(),
  annotate: requestFields.annotate,
  deadline_ms: deadlineSchema.nullish(),
};
type DetectFields = z.infer<z.ZodObject<typeof detectFields>>;

const detectRequestSchema = z
  .strictObject({ image_path: imagePathSchema, ...detectFields })
  .openapi('DetectRequest', {
    description: NULL_IS_NOT_GIVEN,
    example: { image_path: 'street.jpg', confidence_threshold: 0.5, classes: ['car'] },
  });

export type DetectRequestBody = z.infer<typeof detectRequestSchema>;

/** The options of a request as texts; for the documentation only, as `detectRequestSchema` checks them. */
const textOptions: Record<string, z.ZodType> = Object.fromEntries(
  Object.entries(detectRequestSchema.shape)
    .filter(([name]) => name !== 'image_path')
    .map(([name, field]) => [name, (unwrapped(field) as z.ZodType).optional()]),
);

const detectFormSchema = z.object({ image: binary, ...textOptions }).openapi('DetectForm', {
  description: 'The picture and options; lists are separated by commas, or JSON: ["car","truck"]',
});

export const detectResponseSchema = z
  .object({
    status: z.literal('success'),
    image_path: z.string(),
    ...imageFields,
    confidence_threshold: z.number().openapi({
      description: 'That of the request, else of the model, else 0.5',
    }),
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
      precision: 'int8',
      model_digest: 'f75a8e4787ce638c',
      file: { size: 183_204, modified_at: 1_790_000_000.25 },
      confidence_threshold: 0.5,
      model: 'yolov8n.pt',
      worker_id: 'local-0',
    },
  });

export type DetectResponseBody = z.infer<typeof detectResponseSchema>;

export function detectRoutes(route: AddRoute, parts: RouteParts): void {
  route(
    {
      method: 'post',
      path: '/v1/inference/detect',
      operationId: 'detect',
      summary: 'Detect in one image and wait for the boxes',
      description:
        'Answers with the boxes of one image, before the images of all jobs. The body is JSON that names an image of the ' +
        'shared volume by its path, or the picture itself, alone or in the field `image` of a form. A picture alone has its ' +
        'options in the query, a form in its fields. Sent pictures are held in memory and not stored. A request that cannot ' +
        'be answered in time at the present rate is refused at once with `overloaded` and Retry-After; one that is not ' +
        'answered in time ends with `deadline_exceeded`.',
      tags: ['Inference'],
      request: {
        query: z.object(textOptions),
        body: {
          required: true,
          content: {
            'application/json': { schema: detectRequestSchema },
            ...Object.fromEntries(PICTURE_TYPES.map((type) => [type, { schema: binary }])),
            [FORM_TYPE]: { schema: detectFormSchema },
          },
        },
      },
      answers: {
        200: {
          ...json('Detected', detectResponseSchema),
          headers: z.object({
            'Server-Timing': z.string().openapi({
              description: 'timings_ms and the total, as browsers show them',
              example: 'queue;dur=0.10, decode;dur=2.10, total;dur=15.80',
            }),
          }),
        },
      },
      errors: [...errorsOf('image', 'model', 'worker', 'detector'), 'unknown_view'],
      pages: 'detects',
    },
    createDetectHandler(parts),
  );
}

function createDetectHandler(deps: RouteParts): RouteHandler {
  const { pictures } = deps;
  const draw = boundedDrawing(deps);
  const answer = async (c: AppContext, body: DetectRequestBody, image?: Buffer) => {
    const { options: asked, deadlineMs } = await readDetectOptions(c, body, deps);
    const path = body.image_path;
    // The name that a form gives a picture is no path.
    const { options, used } = deps.views.resolve(
      asked,
      image === undefined ? path : null,
      c.get('keyId'),
    );
    const run = async () => {
      const request: DetectRequest = { path, options, deadlineMs, kind: 'sync' };
      if (image !== undefined) request.image = image;
      const result = await detect(c, deps, request);
      return used.view === undefined ? result : { ...result, view: used.view };
    };
    const { result, file } =
      body.annotate === true
        ? await draw(image ?? body.image_path, c.get('keyId'), run)
        : { result: await run(), file: undefined };
    const { confidence } = options;
    return replyJson(c, 200, toWire(body.image_path, result, confidence, file), {
      'server-timing': serverTiming(result.timingsMs, result.processingTimeMs),
    });
  };
  const answerUpload = (c: AppContext) => {
    const query = optionsFromTexts(detectRequestSchema, searchOf(c));
    const toBody = ({ name, fields }: Form) => {
      // Generated clients send the defaults of the query beside a form.
      const options = { ...query, ...optionsFromTexts(detectRequestSchema, fields) };
      if ('image_path' in options) throw validationFailed([NO_PATH]);
      return readRequest(c, { ...options, image_path: name }, deps);
    };
    // A fault of the query is reported before the picture is read.
    const ofQuery = toBody({ name: IMAGE_FIELD, fields: [] });
    return pictures.receive(c, ({ image, name, fields }) => {
      // The parser of forms gives names that can be a path.
      const isChecked = fields.length === 0;
      const body = isChecked ? { ...ofQuery, image_path: name } : toBody({ name, fields });
      return answer(c, body, image);
    });
  };
  return async (c) => {
    refuseWhileStopping(deps);
    if (pictures.isPicture(c)) return answerUpload(c);
    const body = readRequest(c, await readJson(c, deps.config.maxBodyBytes, TYPES), deps);
    checkImagePath(body.image_path, deps.config.imageRoots, '#/image_path');
    return answer(c, body);
  };
}

function searchOf(c: AppContext): Iterable<readonly [string, string]> {
  return c.req.url.includes('?') ? new URL(c.req.url).searchParams : [];
}

function readRequest(c: AppContext, value: unknown, deps: AppDeps): DetectRequestBody {
  if (c.get('foreignPage')) refuseForOwnPages(value, detectRequestSchema);
  refuseLongLists(value, deps.config);
  return validate(detectRequestSchema, value);
}

/** Runs one image within its deadline, until its client is gone. Rejects with a `LatticeError`. */
export async function detect(
  c: AppContext,
  deps: AppDeps,
  request: DetectRequest,
): Promise<ImageResult> {
  c.set('modelName', request.options.modelName);
  try {
    const keyId = c.get('keyId');
    const owned: DetectRequest = { ...request, signal: c.req.raw.signal };
    if (keyId !== null) owned.keyId = keyId;
    return await deps.detector.detect(owned);
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

/**
 * Drawing is slower than detection: without a bound the pictures in memory would grow with the load. Where it fails,
 * the boxes are answered without it.
 */
function boundedDrawing({ annotator, logger }: AppDeps) {
  let inHand = 0;
  return async (image: string | Buffer, keyId: string | null, run: () => Promise<ImageResult>) => {
    if (inHand >= MOST_DRAWN) {
      throw new LatticeError('overloaded', `${inHand} pictures are being drawn.`, {
        retryAfterS: 1,
      });
    }
    inHand += 1;
    try {
      const result = await run();
      const file = await annotator
        .annotate(image, result.detections, keyId)
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'drawing failed');
          return undefined;
        });
      return { result, file };
    } finally {
      inHand -= 1;
    }
  };
}

function toWire(
  path: string,
  result: ImageResult,
  confidence: number,
  file: string | undefined,
): DetectResponseBody {
  return {
    status: 'success',
    image_path: path,
    ...toWireImage(result, file),
    confidence_threshold: confidence,
    model: result.model,
    worker_id: result.workerId,
  };
}

function serverTiming(timings: Timings, totalMs: number): string {
  let text = '';
  for (const stage of STAGES) {
    const ms = timings[stage];
    if (ms !== undefined) text += `${stage};dur=${ms.toFixed(2)}, `;
  }
  return `${text}total;dur=${totalMs.toFixed(2)}`;
}

/** Rejects with `validation_failed` or the model's own error. */
async function readDetectOptions(
  c: AppContext,
  fields: DetectFields,
  { config, catalogue }: RouteParts,
): Promise<{ options: DetectOptions; deadlineMs: number }> {
  const deadlineMs = fields.deadline_ms ?? config.syncDeadlineMs;
  if (deadlineMs > config.syncDeadlineMs) {
    const detail = `deadline_ms: It is at most ${config.syncDeadlineMs}, the deadline of the service.`;
    throw validationFailed([{ detail, pointer: '#/deadline_ms' }]);
  }
  const modelName = fields.model_name ?? defaultModelName(config);
  c.set('modelName', modelName);
  await refuseUnknownClasses(fields, modelName, catalogue);
  refuseRegionsAndView(fields);
  const options = {
    modelName,
    ...readParameters(fields, await catalogue.defaultsOf(modelName)),
    classes: await requestedClasses(fields, modelName, catalogue),
  };
  return { options, deadlineMs };
}
