/** A machine learning backend of Label Studio; only with LATTICE_COMPAT=label-studio. */
import { z } from '@hono/zod-openapi';
import {
  ERRORS,
  errorsOf,
  LatticeError,
  refuseWhileStopping,
  toLatticeError,
} from '../api/errors.js';
import {
  localFileOf,
  readLabelStudioConfig,
  type LabelStudioConfig,
} from '../export/label-studio-config.js';
import { predictionOf } from '../export/labelstudio.js';
import { checkImagePath } from '../files/image-paths.js';
import { defaultModelName } from '../models/model-folder.js';
import type { AppContext } from '../http/app-env.js';
import { replyJson } from '../http/answer/reply.js';
import { readJson } from '../http/request/json-body.js';
import { validate, validationFailed } from '../http/request/validation.js';
import { json, type AddRoute } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';
import type { Adapter } from './adapter.js';
import { admitOwner, basicPassword } from './caller-key.js';
import { detectForLabels } from './detect-for-labels.js';

const MOST_TASKS = 1_000;
/** More than the longest class lists have. */
const MOST_CHARACTERS = 256 * 1_024;

const labelConfig = z.string().max(MOST_CHARACTERS);

const setupSchema = z
  .looseObject({ schema: labelConfig.nullish() })
  .openapi('LabelStudioSetup', { description: 'Other fields are ignored' });

const predictSchema = z
  .looseObject({
    tasks: z.array(z.looseObject({ data: z.record(z.string(), z.unknown()) })).max(MOST_TASKS),
    label_config: labelConfig,
  })
  .openapi('LabelStudioPredict', { description: 'Other fields are ignored' });

const predictionSchema = z
  .object({
    model_version: z.string(),
    score: z.number().optional(),
    result: z.array(z.looseObject({ type: z.string() })),
    error: z.string().optional().openapi({ description: 'Why the task has no boxes' }),
  })
  .openapi('LabelStudioPrediction');
type Prediction = z.infer<typeof predictionSchema>;

const shared = {
  tags: ['Inference'],
  description: 'As Label Studio has it; see docs/exports.md.',
  pages: 'detects' as const,
};

/** Label Studio sends a key as the password of HTTP's basic authentication. */
export const labelStudio: Adapter = { paths: /^\/label-studio\//, addRoutes };

function addRoutes(route: AddRoute, parts: RouteParts): void {
  const { config, catalogue } = parts;
  const modelName = defaultModelName(config);
  route(
    {
      ...shared,
      method: 'get',
      path: '/label-studio/health',
      operationId: 'labelStudioHealth',
      summary: 'The backend is there',
      security: [],
      answers: {
        200: json('It is', z.object({ status: z.literal('UP'), model_class: z.string() })),
      },
    },
    (c) => replyJson(c, 200, { status: 'UP', model_class: 'lattice-core' }),
  );
  route(
    {
      ...shared,
      method: 'post',
      path: '/label-studio/setup',
      operationId: 'labelStudioSetup',
      summary: 'Whether a project can have its boxes from here',
      request: {
        body: { required: true, content: { 'application/json': { schema: setupSchema } } },
      },
      answers: { 200: json('It can', z.object({ model_version: z.string() })) },
      errors: errorsOf('model'),
    },
    async (c) => {
      await checkKey(c, parts);
      const { schema } = validate(setupSchema, await readJson(c, config.maxBodyBytes));
      if (schema) await configOf(schema, '#/schema', parts);
      await catalogue.classesOf(modelName);
      return replyJson(c, 200, { model_version: modelName });
    },
  );
  route(
    {
      ...shared,
      method: 'post',
      path: '/label-studio/predict',
      operationId: 'labelStudioPredict',
      summary: 'Boxes for the pictures of tasks',
      request: {
        body: { required: true, content: { 'application/json': { schema: predictSchema } } },
      },
      answers: { 200: json('Predictions', z.object({ results: z.array(predictionSchema) })) },
      errors: errorsOf('model', 'worker', 'detector'),
    },
    async (c) => {
      await checkKey(c, parts);
      refuseWhileStopping(parts);
      const body = validate(predictSchema, await readJson(c, config.maxBodyBytes));
      const labels = await configOf(body.label_config, '#/label_config', parts);
      const predict = createPredict(c, parts, modelName, labels);
      const results = await Promise.all(body.tasks.map(({ data }) => predict(data[labels.field])));
      return replyJson(c, 200, { results });
    },
  );
}

/** Boxes of one task; one whose picture cannot be had says why. Rejects with other errors. */
function createPredict(
  c: AppContext,
  parts: RouteParts,
  modelName: string,
  labels: LabelStudioConfig,
) {
  return async (address: unknown): Promise<Prediction> => {
    try {
      const path = typeof address === 'string' ? localFileOf(address) : null;
      if (path === null) {
        throw new LatticeError(
          'image_not_found',
          `The picture of the task is no file of the image folders: its ${labels.field} has to be ` +
            '/data/local-files/?d=PATH, with the same folder as in LATTICE_IMAGE_ROOTS.',
        );
      }
      checkImagePath(path, parts.config.imageRoots);
      return predictionOf(await detectForLabels(c, parts, { path }, modelName), labels);
    } catch (thrown) {
      const error = toLatticeError(thrown);
      const { of } = ERRORS[error.code];
      if (of !== 'image' && error.code !== 'path_not_allowed') throw error;
      return { model_version: modelName, result: [], error: parts.hide(error.message) };
    }
  };
}

/**
 * The first picture of the configuration with a label for a class of the model. Rejects with `validation_failed` where
 * the configuration cannot be read, has no boxes, or no label for any class.
 */
async function configOf(
  xml: string,
  pointer: string,
  { catalogue, config }: RouteParts,
): Promise<LabelStudioConfig> {
  const pictures = picturesOf(xml, pointer);
  const modelName = defaultModelName(config);
  const classes = await catalogue.classesOf(modelName);
  const found = pictures.find(
    ({ labelOf }) =>
      classes.length === 0 || classes.some((name) => labelOf({ class: name }) !== undefined),
  );
  if (found !== undefined) return found;
  const detail =
    `No label of the configuration is a class of ${modelName} (${classes.join(', ')}). ` +
    'A label for several classes names them in predicted_values.';
  throw validationFailed([{ detail, pointer }]);
}

function picturesOf(xml: string, pointer: string): LabelStudioConfig[] {
  let pictures: LabelStudioConfig[];
  try {
    pictures = readLabelStudioConfig(xml);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `The labelling configuration is no well-formed XML: ${error.message}.`;
    throw validationFailed([{ detail, pointer }]);
  }
  if (pictures.length > 0) return pictures;
  const detail =
    'The labelling configuration has no RectangleLabels on an Image whose value is $FIELD.';
  throw validationFailed([{ detail, pointer }]);
}

function checkKey(c: AppContext, { apiKeys }: RouteParts): Promise<void> {
  const detail = 'Enter an API key as the password of the backend in Label Studio.';
  return admitOwner(c, apiKeys, basicPassword(c), detail);
}
