import { expect, test } from 'vitest';
import { Metrics } from '../../src/metrics/metrics.js';
import { addWatchFigures, lagHistogram } from '../../src/watches/watch-metrics.js';
import { WATCHES } from '../support/every-metric.js';
import { seriesValue } from '../support/metric-series.js';

test('a watch has its files that wait or are left out, and the time to their results', async () => {
  const metrics = new Metrics();
  addWatchFigures(metrics, WATCHES);
  lagHistogram(metrics)('gate', 2.5);
  expect(await seriesValue(metrics, 'lattice_watch_waiting{watch="gate"}')).toBe(5);
  const skipped = 'lattice_watch_skipped{watch="gate",reason="empty"}';
  expect(await seriesValue(metrics, skipped)).toBe(1);
  expect(await seriesValue(metrics, 'lattice_watch_lag_seconds_sum{watch="gate"}')).toBe(2.5);
  expect(await seriesValue(metrics, 'lattice_camera_findings{kind="covered"}')).toBe(2);
  expect(await seriesValue(metrics, 'lattice_camera_findings{kind="late"}')).toBe(0);
});
