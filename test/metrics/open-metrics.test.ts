import { expect, test } from 'vitest';
import { Releases } from '../../src/base/releases.js';
import { openMetrics } from '../../src/metrics/open-metrics.js';
import { seriesValue } from '../support/metric-series.js';
import { silent } from '../support/silent-logger.js';

test('process defaults and event-loop lag are there, in the Prometheus format, until the release', async () => {
  const releases = new Releases(silent, 0);
  const metrics = openMetrics(releases);
  expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await metrics.render()).toMatch(/^process_resident_memory_bytes \d+/m);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  await new Promise((resolve) => setTimeout(resolve, 30));
  Atomics.wait(wait, 0, 0, 300);
  await new Promise((resolve) => setTimeout(resolve, 30));
  const most = 'lattice_event_loop_lag_seconds{percentile="100"}';
  const held = (await seriesValue(metrics, most))!;
  expect(held).toBeGreaterThan(0.2);
  await new Promise((resolve) => setTimeout(resolve, 30));
  // A most that is not begun anew cannot fall, however busy the machine is.
  expect(await seriesValue(metrics, most)).toBeLessThan(held);
  await releases.releaseAll();
  expect((await metrics.render()).trim()).toBe('');
});
