/**
 * The calls of CVAT for automatic annotation: the part of Nuclio's dashboard that lists functions and invokes one, with
 * a detector per model; only with LATTICE_COMPAT=cvat.
 */
import { z } from '@hono/zod-openapi';
import { errorsOf, LatticeError, refuseWhileStopping } from '../api/errors.js';
import { replyJson } from '../http/answer/reply.js';
import type { AppContext } from '../http/app-env.js';
import { readJson } from '../http/request/json-body.js';
import { declaredBytes } from '../http/request/read-body.js';
import { modelNameSchema } from '../http/request/request-fields.js';
import { validate, validationFailed } from '../http/request/validation.js';
import { json, type AddRoute } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';
import type { Adapter } from './adapter.js';
import { admitOwner, basicPassword } from './caller-key.js';
import { detectForLabels } from './detect-for-labels.js';

/** CVAT's addresses hold the name of a function. */
const NAMED_IN_CVAT = /^[\w.-]+$/;
/** More than a call has beside its picture. */
const CALL_OVERHEAD = 256 * 1024;

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

/** CVAT sends a key as the password of HTTP's basic authentication. */
export const cvat: Adapter = {
  paths: /^\/api\/function(?:s|_invocations)(?:\/|$)/,
  addRoutes,
};

function addRoutes(route: AddRoute, parts: RouteParts): void {
  const { catalogue, detector, pictures } = parts;
  const maxBodyBytes = 4 * Math.ceil(parts.config.maxFileBytes / 3) + CALL_OVERHEAD;
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
      path: '/api/function_invocations',
      operationId: 'cvatInvoke',
      summary: 'Boxes of a picture',
      request: {
        headers: z.object({ 'x-nuclio-function-name': z.string() }),
        body: { required: true, content: { 'application/json': { schema: callSchema } } },
      },
      answers: { 200: json('Shapes', z.array(shapeSchema)) },
      errors: errorsOf('model', 'worker', 'detector', 'image'),
      maxBodyBytes,
    },
    async (c) => {
      await checkKey(c, parts);
      refuseWhileStopping(parts);
      return pictures.hold(c, async (share) => {
        share.add(Math.min(declaredBytes(c) ?? maxBodyBytes, maxBodyBytes));
        return replyJson(c, 200, await call(c, await readJson(c, maxBodyBytes), parts));
      });
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
  const picture = { path: 'image', image };
  const { detections } = await detectForLabels(c, parts, picture, modelName, threshold);
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
