import { expect, test } from 'vitest';
import { Metrics } from '../../src/metrics/metrics.js';
import { addWebhookMetrics } from '../../src/webhooks/webhook-metrics.js';
import { seriesValue } from '../support/metric-series.js';

test('attempts are counted by outcome, those that wait are read when asked for', async () => {
  const metrics = new Metrics();
  const count = addWebhookMetrics(metrics, { waitingCount: () => Promise.resolve(2) });
  count('retry');
  count('retry');
  count('succeeded');
  const value = (outcome: string) =>
    seriesValue(metrics, `lattice_webhook_attempts_total{outcome="${outcome}"}`);
  expect(await value('retry')).toBe(2);
  expect(await value('succeeded')).toBe(1);
  expect(await value('gave_up')).toBe(0);
  expect(await seriesValue(metrics, 'lattice_webhooks_waiting')).toBe(2);
});
