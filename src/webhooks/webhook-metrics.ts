/** Webhooks in the metrics. */
import type { Metrics } from '../metrics/metrics.js';
import type { WebhookQueue } from '../store/service-store.js';
import type { WebhookOptions } from './webhook-worker.js';

const OUTCOMES = ['succeeded', 'retry', 'gave_up'] as const;

/** Returns the function that counts an attempt. */
export function addWebhookMetrics(
  metrics: Metrics,
  queue: Pick<WebhookQueue, 'waitingCount'>,
): NonNullable<WebhookOptions['onAttempt']> {
  metrics.figures({
    name: 'lattice_webhooks_waiting',
    help: 'Webhook deliveries that are still to be made.',
    read: () => queue.waitingCount(),
  });
  const count = metrics.counter({
    name: 'lattice_webhook_attempts_total',
    help: 'Webhook attempts by outcome: succeeded, retry, gave_up.',
    labels: ['outcome'],
    fromStart: OUTCOMES.map((outcome) => ({ outcome })),
  });
  return (outcome) => {
    count({ outcome });
  };
}
