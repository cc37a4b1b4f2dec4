import { expect, test } from 'vitest';
import { addShadowFigures, shadowCounter } from '../../src/aliases/shadow-metrics.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { seriesValue } from '../support/metric-series.js';

test('pictures of shadows are counted by alias and outcome; the agreement is read when asked for', async () => {
  const metrics = new Metrics();
  addShadowFigures(metrics, { shares: () => [{ alias: 'depot.pt', share: 0.25 }] });
  shadowCounter(metrics)('depot.pt', 'dropped');
  const counted = 'lattice_shadow_images_total{alias="depot.pt",outcome="dropped"}';
  expect(await seriesValue(metrics, counted)).toBe(1);
  expect(await seriesValue(metrics, 'lattice_shadow_agreement{alias="depot.pt"}')).toBe(0.25);
});
