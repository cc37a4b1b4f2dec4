/** Probes and metrics: `/healthz`, `/livez`, `/readyz`, `/metrics`. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import type { AppDeps } from '../app-deps.js';
import { problemResponses } from '../problem.schema.js';
import { replyJson, replyRaw } from '../reply.js';
import type { RouteTable } from '../route-table.js';
import { readinessFault } from './readiness.js';

const tags = ['System'];
const healthSchema = z
  .object({ status: z.literal('ok'), cluster_connected: z.boolean() })
  .openapi('Health', { example: { status: 'ok', cluster_connected: true } });
const liveSchema = z.object({ status: z.literal('ok') }).openapi('Live');
const readySchema = z.object({ status: z.literal('ready') }).openapi('Ready');

const probe = (
  path: string,
  operationId: string,
  texts: { summary: string; description: string },
  schema: z.ZodType,
): RouteConfig => ({
  method: 'get',
  path,
  operationId,
  ...texts,
  tags,
  security: [],
  responses: {
    200: { description: 'OK', content: { 'application/json': { schema } } },
    ...problemResponses('internal_error'),
  },
});

const ready: RouteConfig = {
  ...probe(
    '/readyz',
    'ready',
    {
      summary: 'Readiness for traffic: store and detector work, the service is not stopping',
      description:
        '503 with the reason while the job store cannot be written, the model is not fit or the service stops. For load balancers.',
    },
    readySchema,
  ),
  responses: {
    200: { description: 'Ready', content: { 'application/json': { schema: readySchema } } },
    ...problemResponses(
      'internal_error',
      'shutting_down',
      'storage_unavailable',
      'model_not_ready',
    ),
  },
};

const metrics: RouteConfig = {
  method: 'get',
  path: '/metrics',
  operationId: 'metrics',
  summary: 'Metrics for Prometheus',
  description:
    'Requests, images, stages, jobs, queues, workers and GPUs in the text format of Prometheus.',
  tags,
  responses: {
    200: {
      description: 'Prometheus text format',
      content: { 'text/plain': { schema: z.string() } },
    },
    ...problemResponses('unauthorized', 'internal_error'),
  },
};

export function addHealthRoutes(table: RouteTable, deps: AppDeps): void {
  table.add(
    probe(
      '/healthz',
      'health',
      {
        summary: 'Liveness and cluster connection',
        description:
          '200 while the service answers at all. `cluster_connected` tells whether its workers can be reached.',
      },
      healthSchema,
    ),
    (c) => replyJson(c, 200, { status: 'ok', cluster_connected: deps.cluster.connected() }),
  );
  table.add(
    probe(
      '/livez',
      'live',
      {
        summary: 'Liveness only',
        description:
          '200 while the service answers at all, whatever the state of its workers. For supervisors that restart it.',
      },
      liveSchema,
    ),
    (c) => replyJson(c, 200, { status: 'ok' }),
  );
  table.add(ready, async (c) => {
    const fault = await readinessFault(deps);
    if (fault !== null) throw fault;
    return replyJson(c, 200, { status: 'ready' });
  });
  table.add(metrics, async (c) =>
    replyRaw(c, 200, await deps.metrics.render(), {
      'content-type': deps.metrics.contentType,
      'cache-control': 'no-store',
    }),
  );
}
