/**
 * What CVAT calls for automatic annotation: the part of Nuclio's dashboard that lists functions and invokes one, with
 * a detector per model; only with LATTICE_COMPAT=cvat.
 */
import { z } from '@hono/zod-openapi';
import { errorsOf, LatticeError } from '../../api/errors.js';
import { DEFAULT_PARAMETERS } from '../../api/options.js';
import { admitOwner, basicPassword } from '../access/api-keys.js';
import { replyJson } from '../answer/reply.js';
import type { AppContext } from '../app-env.js';
import { modelNameSchema } from '../request/request-fields.js';
import { validate, validationFailed } from '../request/validation.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { detect } from './detect.js';

/** They check keys themselves: CVAT sends one as the password of HTTP's basic authentication. */
export const CVAT_PATH = /^\/api\/function(?:s|_invocations)(?:\/|$)/;

const INVOCATIONS = '/api/function_invocations';
/** CVAT's addresses hold the name of a function. */
const NAMED_IN_CVAT = /^[\w.-]+$/;
/** CVAT itself waits 120 s. */
const DEADLINE_MS = 90_000;

const functionSchema = z
  .object({
    metadata: z.object({
      name: z.string(),
      annotations: z.object({
        name: z.string(),
        type: z.literal('detector'),
        spec: z.string().openapi({ description: 'JSON: the labels' }),
      }),
    }),
    spec: z.object({ description: z.string() }),
    status: z.object({ state: z.literal('ready') }),
  })
  .openapi('CvatFunction');
type CvatFunction = z.infer<typeof functionSchema>;

const callSchema = z
  .looseObject({
    image: z.string().openapi({ description: 'The file of the picture, as base64' }),
    threshold: z.number().min(0).max(1).nullish(),
  })
  .openapi('CvatCall', { description: 'Other fields are ignored' });

const shapeSchema = z
  .object({
    confidence: z.string(),
    label: z.string(),
    points: z.array(z.number()).openapi({ description: 'x1, y1, x2, y2 in pixels' }),
    type: z.literal('rectangle'),
  })
  .openapi('CvatShape');

const shared = {
  tags: ['Inference'],
  description: 'As CVAT calls Nuclio; see docs/exports.md.',
  pages: 'detects' as const,
};

/** Whether the address is that of a call, whose body holds a picture. */
export const isCvatCall = (url: string | undefined): boolean => url?.split('?')[0] === INVOCATIONS;

export function cvatRoutes(route: AddRoute, parts: RouteParts): void {
  const { catalogue, detector } = parts;
  route(
    {
      ...shared,
      method: 'get',
      path: '/api/functions',
      operationId: 'cvatFunctions',
      summary: 'A detector per model',
      answers: { 200: json('By name', z.record(z.string(), functionSchema)) },
      errors: errorsOf('worker'),
    },
    async (c) => {
      await checkKey(c, parts);
      const usable = (await detector.models()).filter(({ state }) => state !== 'refused');
      const functions = usable
        .map(({ name, classes }) => functionOf(name, classes))
        .filter(({ metadata }) => NAMED_IN_CVAT.test(metadata.name));
      return replyJson(c, 200, Object.fromEntries(functions.map((f) => [f.metadata.name, f])));
    },
  );
  route(
    {
      ...shared,
      method: 'get',
      path: '/api/functions/{name}',
      operationId: 'cvatFunction',
      summary: 'The detector of a model',
      request: { params: z.object({ name: z.string().openapi({ example: 'vehicles-v8n' }) }) },
      answers: { 200: json('The detector', functionSchema) },
      errors: errorsOf('model', 'worker'),
    },
    async (c) => {
      await checkKey(c, parts);
      const modelName = modelOf(c.req.param('name'));
      return replyJson(c, 200, functionOf(modelName, await catalogue.classesOf(modelName)));
    },
  );
  route(
    {
      ...shared,
      method: 'post',
      path: INVOCATIONS,
      operationId: 'cvatInvoke',
      summary: 'Boxes of a picture',
      request: {
        headers: z.object({ 'x-nuclio-function-name': z.string() }),
        body: { required: true, content: { 'application/json': { schema: callSchema } } },
      },
      answers: { 200: json('Shapes', z.array(shapeSchema)) },
      errors: errorsOf('model', 'worker', 'detector', 'image'),
    },
    async (c) => {
      await checkKey(c, parts);
      if (parts.draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
      return parts.pictures.receiveJson(c, async (value) =>
        replyJson(c, 200, await call(c, value, parts)),
      );
    },
  );
}

async function call(
  c: AppContext,
  value: unknown,
  parts: RouteParts,
): Promise<z.infer<typeof shapeSchema>[]> {
  const modelName = modelOf(c.req.header('x-nuclio-function-name'));
  const { image: text, threshold } = validate(callSchema, value);
  const image = Buffer.from(text, 'base64');
  if (image.length === 0) {
    throw validationFailed([{ detail: 'The picture is no base64 text.', pointer: '#/image' }]);
  }
  const confidence = threshold ?? (await parts.catalogue.defaultsOf(modelName)).confidence;
  const options = { ...DEFAULT_PARAMETERS, modelName, classes: null, confidence };
  // As in a job: a call that is refused ends the annotation of a whole task.
  const request = {
    path: 'image',
    image,
    options,
    kind: 'async',
    deadlineMs: DEADLINE_MS,
  } as const;
  const { detections } = await detect(c, parts, request);
  return detections.map(({ box, confidence: score, class: label }) => ({
    confidence: String(score),
    label,
    points: [...box],
    type: 'rectangle',
  }));
}

/** CVAT leaves out a function whose labels are not unique. */
function functionOf(modelName: string, classes: readonly string[]): CvatFunction {
  const name = modelName.replace(/\.pt$/, '');
  const labels = [...new Set(classes)].map((label, id) => ({ id, name: label, type: 'rectangle' }));
  return {
    metadata: { name, annotations: { name, type: 'detector', spec: JSON.stringify(labels) } },
    spec: { description: `${name} of lattice-core` },
    status: { state: 'ready' },
  };
}

function modelOf(name: string | undefined): string {
  const { data } = modelNameSchema.safeParse(name);
  if (data !== undefined) return data;
  throw new LatticeError('unknown_model', `There is no model of the name '${name ?? ''}'.`);
}

const checkKey = (c: AppContext, { apiKeys }: RouteParts): Promise<void> =>
  admitOwner(
    c,
    apiKeys,
    basicPassword(c),
    'Put an API key before the address in CVAT: CVAT_NUCLIO_HOST=lattice:KEY@HOST.',
  );
