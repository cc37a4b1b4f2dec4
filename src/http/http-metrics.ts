/** Requests, event streams, readiness and the use of API keys, in the metrics. */
import { QUOTA_NAMES, QUOTAS } from '../api/quotas.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ReadKeyUse } from './access/key-use.js';
import type { HttpMetrics } from './app-deps.js';
import { readinessFault, type ReadinessParts } from './routes/health.js';

/** Buckets from the time of a refused request to the longest wait of a synchronous detection. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface HttpMetricParts extends ReadinessParts {
  keyUse: ReadKeyUse;
}

export function addHttpMetrics(
  metrics: Metrics,
  { keyUse, ...readiness }: HttpMetricParts,
): HttpMetrics {
  const observeSeconds = metrics.histogram({
    name: 'lattice_http_request_seconds',
    help: 'Time from a request to its answer.',
    labels: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
  });
  let streamClients = 0;
  metrics.figures(
    {
      name: 'lattice_ready',
      help: '1 while /readyz answers 200, else 0; that answer and the log say why.',
      read: async () => (await readinessFault(readiness)) === null,
    },
    {
      name: 'lattice_ws_clients',
      help: 'Open connections of /v1/stream.',
      read: () => streamClients,
    },
    ...QUOTA_NAMES.map((quota) => ({
      name: QUOTAS[quota].metric,
      help: `What each API key has of ${QUOTAS[quota].ofWhat}: ${QUOTAS[quota].text}.`,
      read: async () =>
        (await keyUse())
          .filter(({ owner }) => owner !== null)
          .map(({ name, quotas }) => ({
            labels: { key: name ?? '' },
            value: quotas.find((each) => each.quota === quota)?.used ?? 0,
          })),
    })),
  );
  return {
    contentType: metrics.contentType,
    render: (all) => metrics.render(all),
    observeRequest: ({ method, route, status, seconds }) => {
      observeSeconds({ method, route, status: String(status) }, seconds);
    },
    setStreamClients: (count) => {
      streamClients = count;
    },
  };
}
