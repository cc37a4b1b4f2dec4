/** The routes of DeepStack and CodeProject.AI that cameras' programs call; only with LATTICE_COMPAT=deepstack. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import type { AppDeps } from '../app-deps.js';
import type { AppContext } from '../app-env.js';
import { presentedKey } from '../api-keys.js';
import type { HideFolders } from '../problem.js';
import { replyJson } from '../reply.js';
import type { RouteTable } from '../route-table.js';
import { FORM_TYPE, type Uploads } from '../uploads/uploads.js';
import {
  failureSchema,
  modelNamesSchema,
  statusSchema,
  updateSchema,
  visionAnswerSchema,
  visionFormSchema,
  type Version,
} from './deepstack.schema.js';
import { answeringFailures } from './failure.js';
import { checkKey, createVisionHandler } from './vision.handler.js';

/** They check keys themselves: a key may be a field of the form. The status routes take none. */
export const DEEPSTACK_PATH = /^\/v1\/(?:vision|(?:server\/)?status)\//;

const FAILURES = [400, 401, 404, 413, 415, 500, 503, 504];
const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } });

function route(
  method: 'get' | 'post',
  path: string,
  operationId: string,
  summary: string,
  schema: z.ZodType,
): RouteConfig {
  const failure = (status: number) => [status, { description: 'Failed', ...json(failureSchema) }];
  return {
    method,
    path,
    operationId,
    summary,
    description: 'As DeepStack and CodeProject.AI have it; see docs/deepstack.md.',
    tags: ['Inference'],
    responses: {
      200: { description: 'Answered', ...json(schema) },
      ...(Object.fromEntries(FAILURES.map(failure)) as RouteConfig['responses']),
    },
  };
}

const body = { required: true, content: { [FORM_TYPE]: { schema: visionFormSchema } } };
const detection: RouteConfig = {
  ...route(
    'post',
    '/v1/vision/detection',
    'deepStackDetect',
    'Vehicles in a picture, by the default model',
    visionAnswerSchema,
  ),
  request: { body },
};
const custom: RouteConfig = {
  ...route(
    'post',
    '/v1/vision/custom/{model}',
    'deepStackCustom',
    'All classes of a model, in a picture',
    visionAnswerSchema,
  ),
  request: { body, params: z.object({ model: z.string().openapi({ example: 'yolov8n' }) }) },
};

export function addDeepStackRoutes(
  table: RouteTable,
  deps: AppDeps,
  uploads: Uploads,
  hide: HideFolders,
): void {
  const answering = (handler: Parameters<typeof answeringFailures>[0]) =>
    answeringFailures(handler, deps.logger, hide);
  const vision = answering(createVisionHandler(deps, uploads));
  const list = answering(async (c) => {
    await checkKey(c, deps.apiKeys, presentedKey((name) => c.req.header(name)) ?? '');
    const models = (await deps.detector.models()).filter(({ state }) => state !== 'refused');
    const names = models.map(({ name }) => name.replace(/\.pt$/, ''));
    return replyJson(c, 200, { success: true, models: names, code: 200 });
  });
  for (const [method, id] of [
    ['post', 'deepStackModels'],
    ['get', 'deepStackListModels'],
  ] as const) {
    table.add(
      route(method, '/v1/vision/custom/list', id, 'Names of models', modelNamesSchema),
      list,
    );
  }
  table.add(detection, vision);
  // After the list, whose path it would match too.
  table.add(custom, vision);
  addStatusRoutes(table, deps.version);
}

function addStatusRoutes(table: RouteTable, text: string): void {
  const version = readVersion(text);
  const status = { success: true, message: text, version, code: 200 };
  const update = { ...status, current: version, latest: version, updateAvailable: false };
  const answer = (content: object) => (c: AppContext) => replyJson(c, 200, content);
  for (const [prefix, id] of [
    ['/v1/status', ''],
    ['/v1/server/status', 'Server'],
  ] as const) {
    const get = (name: string, summary: string, schema: z.ZodType): RouteConfig => ({
      ...route('get', `${prefix}/${name}`, `deepStack${id}${name}`, summary, schema),
      security: [],
    });
    table.add(get('ping', 'The service is there', statusSchema), answer(status));
    table.add(get('version', 'Version of the service', statusSchema), answer(status));
    table.add(get('updateavailable', 'Never an update', updateSchema), answer(update));
  }
}

function readVersion(text: string): Version {
  const [numbers = '', ...preRelease] = text.split('-');
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  return { major, minor, patch, preRelease: preRelease.join('-') };
}
