/** `/v1/models`: what `model_name` may say, and files that have changed. */
import { z } from '@hono/zod-openapi';
import { modelDescriptionSchema } from '../../api/schemas/model.js';
import { replyJson } from '../answer/reply.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { snakeCase } from '../../api/snake-case.js';

const model = snakeCase(modelDescriptionSchema);

const modelSchema = z.object(model.shape).openapi('Model', {
  example: {
    name: 'yolov8n.pt',
    state: 'ready',
    reason: null,
    classes: ['car', 'motorcycle', 'bus', 'truck'],
    device: 'CPU',
    precision: 'int8',
    digest: 'f75a8e4787ce638c',
    quantized_from: '04194b5e9b47bec7',
    agreement: null,
    input: { width: 640, height: 640 },
    memory_bytes: 147_000_000,
    licence: 'Apache-2.0',
    confidence_threshold: 0.5,
    alias_of: 'vehicles-v8n.pt',
    release: '1.4.0',
    bundled: true,
    is_default: true,
  },
});

const modelListSchema = z.object({ models: z.array(modelSchema) }).openapi('ModelList');

export type ModelBody = z.infer<typeof modelSchema>;
export type ModelListBody = z.infer<typeof modelListSchema>;

export function modelRoutes(route: AddRoute, { detector, catalogue, hide }: RouteParts): void {
  const list = async (): Promise<ModelListBody> => ({
    models: (await detector.models()).map((each): ModelBody => {
      return { ...model.toWire(each), reason: each.reason === null ? null : hide(each.reason) };
    }),
  });
  route(
    {
      method: 'get',
      path: '/v1/models',
      operationId: 'listModels',
      summary: 'Models there are',
      description:
        'The models that model_name may name, the default one first, each with its classes and its state. A model that is ' +
        '`available` is loaded by the first request that names it.',
      tags: ['Models'],
      answers: { 200: json('Models', modelListSchema) },
    },
    async (c) => replyJson(c, 200, await list()),
  );
  route(
    {
      method: 'post',
      path: '/v1/models/reload',
      operationId: 'reloadModels',
      forAdmin: true,
      summary: 'Take model files that have changed',
      description:
        'Looks at the files of the loaded models on each worker at once, where they are looked at every second anyway, and ' +
        'tries those again that were refused. Answers when requests get the new models, with the list. A file that is ' +
        'being written is waited for, for 10 s, and an engine that has to be built for less than a minute. See `reason` for a file that cannot be used: the earlier model goes on ' +
        'answering.',
      tags: ['Models'],
      answers: { 200: json('Models', modelListSchema) },
    },
    async (c) => {
      await detector.reloadModels();
      catalogue.forget();
      return replyJson(c, 200, await list());
    },
  );
}
