import { beforeEach, expect, test } from 'vitest';
import { Metrics } from '../../src/metrics/metrics.js';
import { seriesValue } from '../support/metric-series.js';

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics();
});

const value = (series: string) => seriesValue(metrics, series);

test('a counter counts by its labels, and shows from the start what alerts ask for', async () => {
  const row = { name: 'ended_total', help: 'Ended.', labels: ['status'] as const };
  const count = metrics.counter({ ...row, fromStart: [{ status: 'failed' }] });
  expect(await value('ended_total{status="failed"}')).toBe(0);
  expect(await value('ended_total{status="completed"}')).toBeUndefined();
  count({ status: 'failed' });
  count({ status: 'failed' }, 3);
  expect(await value('ended_total{status="failed"}')).toBe(4);
});

test('a histogram sorts values into its buckets', async () => {
  const row = { name: 'lag_seconds', help: 'Lag.', labels: ['watch'] as const };
  const observe = metrics.histogram({ ...row, buckets: [1, 2] });
  observe({ watch: 'gate' }, 1.5);
  expect(await value('lag_seconds_bucket{le="1",watch="gate"}')).toBe(0);
  expect(await value('lag_seconds_bucket{le="2",watch="gate"}')).toBe(1);
  expect(await value('lag_seconds_sum{watch="gate"}')).toBe(1.5);
});

test('series of an owner are for those who may see all', async () => {
  metrics.counter({ name: 'seen_total', help: 'Seen.', labels: ['watch'] })({ watch: 'gate' });
  const row = { name: 'key_bytes', help: 'Bytes.' };
  metrics.figures({ ...row, read: () => [{ labels: { key: 'A' }, value: 1 }] });
  expect(await metrics.render()).toMatch(/^seen_total\{watch="gate"\} 1$/m);
  expect(await metrics.render(false)).not.toMatch(/^\w+\{/m);
});
