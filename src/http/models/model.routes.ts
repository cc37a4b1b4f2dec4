/** `GET /v1/models`: what `model_name` may say. */
import type { RouteConfig } from '@hono/zod-openapi';
import type { Detector } from '../../execution/detector.js';
import { model, modelListSchema, type ModelBody } from './model.schema.js';
import { problemResponses } from '../problem.schema.js';
import type { HideFolders } from '../problem.js';
import { replyJson } from '../reply.js';
import type { RouteTable } from '../route-table.js';

const models: RouteConfig = {
  method: 'get',
  path: '/v1/models',
  operationId: 'listModels',
  summary: 'Models there are',
  description:
    'The models that model_name may name, the default one first, each with its classes and its state. A model that is ' +
    '`available` is loaded by the first request that names it.',
  tags: ['Models'],
  responses: {
    200: { description: 'Models', content: { 'application/json': { schema: modelListSchema } } },
    ...problemResponses('unauthorized', 'internal_error'),
  },
};

export function addModelRoute(
  table: RouteTable,
  detector: Pick<Detector, 'models'>,
  hide: HideFolders,
): void {
  table.add(models, async (c) => {
    const found = await detector.models();
    const bodies = found.map((each): ModelBody => {
      return { ...model.view(each), reason: each.reason === null ? null : hide(each.reason) };
    });
    return replyJson(c, 200, { models: bodies });
  });
}
