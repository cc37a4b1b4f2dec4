/** Probes and metrics: `/healthz`, `/livez`, `/readyz`, `/metrics`. */
import { z } from '@hono/zod-openapi';
import { descriptorShortage } from '../../base/descriptors.js';
import { METRICS_PATH } from '../access/api-keys.js';
import { LatticeError, serviceStopping } from '../../api/errors.js';
import type { AppDeps } from '../app-deps.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import { json, type AddRoute } from '../route.js';

const healthSchema = z
  .object({ status: z.literal('ok'), cluster_connected: z.boolean() })
  .openapi('Health', { example: { status: 'ok', cluster_connected: true } });
const liveSchema = z.object({ status: z.literal('ok') }).openapi('Live');
const readySchema = z.object({ status: z.literal('ready') }).openapi('Ready');

const probe = { method: 'get' as const, tags: ['System'], security: [] };

export function healthRoutes(route: AddRoute, deps: AppDeps): void {
  route(
    {
      ...probe,
      path: '/healthz',
      operationId: 'health',
      summary: 'Liveness and cluster connection',
      description:
        '200 while the service answers at all. `cluster_connected` is false while an external cluster does not tell its state.',
      answers: { 200: json('OK', healthSchema) },
    },
    (c) => replyJson(c, 200, { status: 'ok', cluster_connected: deps.clusterStatus.connected() }),
  );
  route(
    {
      ...probe,
      path: '/livez',
      operationId: 'live',
      summary: 'Liveness only',
      description:
        '200 while the service answers at all, whatever the state of its workers. For supervisors that restart it.',
      answers: { 200: json('OK', liveSchema) },
    },
    (c) => replyJson(c, 200, { status: 'ok' }),
  );
  route(
    {
      ...probe,
      path: '/readyz',
      operationId: 'ready',
      summary: 'Readiness for traffic: store and detector work, the service is not stopping',
      description:
        '503 with the reason while the job store cannot be written, the model is not fit, the process has no descriptor left or the service stops. For load balancers.',
      answers: { 200: json('Ready', readySchema) },
      errors: ['shutting_down', 'storage_unavailable', 'model_not_ready', 'overloaded'],
    },
    async (c) => {
      const fault = await readinessFault(deps);
      if (fault !== null) throw fault;
      return replyJson(c, 200, { status: 'ready' });
    },
  );
  route(
    {
      method: 'get',
      path: METRICS_PATH,
      operationId: 'metrics',
      summary: 'Metrics for Prometheus',
      description:
        'Requests, images, stages, jobs, queues, workers and GPUs in the text format of Prometheus. Series that name an API ' +
        'key or a watch are for keys with the mark `admin` or `metrics`.',
      tags: ['System'],
      answers: {
        200: {
          description: 'Prometheus text format',
          content: { 'text/plain': { schema: z.string() } },
        },
      },
    },
    async (c) => {
      const keyId = c.get('keyId');
      const isScraper = keyId !== null && deps.apiKeys?.isForMetrics(keyId) === true;
      return replyRaw(c, 200, await deps.metrics.render(c.get('isAdmin') || isScraper), {
        'content-type': deps.metrics.contentType,
        'cache-control': 'no-store',
      });
    },
  );
}

export type ReadinessParts = Pick<AppDeps, 'draining' | 'jobsHealth'> & {
  detector: Pick<AppDeps['detector'], 'unhealthy'>;
};

/** Null when ready. Every fault is answered 503, whatever its own status: a load balancer treats them alike. */
export async function readinessFault(deps: ReadinessParts): Promise<LatticeError | null> {
  if (deps.draining()) return serviceStopping();
  const fault = deps.detector.unhealthy();
  if (fault !== null) {
    return new LatticeError('model_not_ready', `Detector: ${fault.message}`, { cause: fault });
  }
  const storeFault = await deps.jobsHealth();
  if (storeFault !== null) {
    return new LatticeError('storage_unavailable', storeFault.message, { cause: storeFault });
  }
  const shortage = await descriptorShortage();
  return shortage === null ? null : new LatticeError('overloaded', shortage);
}
