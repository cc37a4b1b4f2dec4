import { beforeEach, expect, test } from 'vitest';
import { addHttpMetrics } from '../../src/http/http-metrics.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { FakeDetector } from '../support/fake-detector.js';
import { seriesValue } from '../support/metric-series.js';

let metrics: Metrics;
let draining: boolean;
beforeEach(() => {
  metrics = new Metrics();
  draining = false;
});

const value = (series: string) => seriesValue(metrics, series);
const quotas = [{ quota: 'jobs' as const, used: 4, allowance: null, total: 0 }];

const open = (owner: string | null) =>
  addHttpMetrics(metrics, {
    draining: () => draining,
    detector: new FakeDetector(),
    jobsHealth: () => Promise.resolve(null),
    keyUse: () => Promise.resolve([{ owner, name: 'Alice', isAdmin: false, quotas }]),
  });

test('requests are counted by method, route and status, in seconds', async () => {
  const http = open(null);
  http.observeRequest({ method: 'GET', route: '/healthz', status: 200, seconds: 0.004 });
  http.observeRequest({ method: 'GET', route: '/healthz', status: 200, seconds: 0.2 });
  const labels = 'method="GET",route="/healthz",status="200"';
  expect(await value(`lattice_http_request_seconds_count{${labels}}`)).toBe(2);
  expect(await value(`lattice_http_request_seconds_bucket{le="0.005",${labels}}`)).toBe(1);
  expect(await value(`lattice_http_request_seconds_sum{${labels}}`)).toBeCloseTo(0.204);
});

test('readiness and open streams are read when asked for', async () => {
  const http = open(null);
  http.setStreamClients(4);
  expect(await value('lattice_ws_clients')).toBe(4);
  expect(await value('lattice_ready')).toBe(1);
  draining = true;
  expect(await value('lattice_ready')).toBe(0);
});

test('each key has what it uses; without authentication there is no such series', async () => {
  open('a');
  expect(await metrics.render()).toMatch(/^lattice_key_\w+\{key="Alice"\} 4$/m);
  metrics = new Metrics();
  open(null);
  expect(await metrics.render()).not.toContain('lattice_key_');
});
