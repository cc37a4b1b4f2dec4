/** Webhooks of ended jobs. */
import { webhookRecord } from '../answers/result-record.js';
import { createHideFolders } from '../answers/shown-problem.js';
import { toWireNews } from '../answers/camera-record.js';
import { LatticeError } from '../api/errors.js';
import { webhookEvent } from '../api/events.js';
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { JobService } from '../jobs/job-service.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Config } from '../settings/config.js';
import type { ServiceStore } from '../store/service-store.js';
import { addWebhookMetrics } from './webhook-metrics.js';
import { WebhookWorker } from './webhook-worker.js';

export interface WebhookParts {
  config: Config;
  store: Pick<ServiceStore, 'webhooks' | 'lost'>;
  jobs: Pick<JobService, 'get' | 'imagePages'>;
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

/** Throws `ConfigError` when the secret or the allow list cannot be used. */
export function openWebhooks(parts: WebhookParts): void {
  const { config, store, jobs, logger, metrics, releases } = parts;
  const hide = createHideFolders(config);
  const worker = new WebhookWorker({
    queue: store.webhooks,
    config,
    logger,
    onAttempt: addWebhookMetrics(metrics, store.webhooks),
    body: async ({ jobId, news }) => {
      const job = await jobs.get(jobId, null).catch((error: unknown) => {
        if (error instanceof LatticeError && error.code === 'job_not_found') return null;
        throw error;
      });
      if (job === null) return null;
      const { watch, status } = job;
      const { origin } = job.spec;
      if (news !== null) {
        const { finding, place, camera_event: event } = toWireNews(news);
        const told = { watch, job_id: jobId, ...(finding ?? place ?? event) };
        return { type: webhookEvent(status, news.change), json: JSON.stringify(told), origin };
      }
      const json = await webhookRecord(job, jobs.imagePages(jobId), hide);
      return { type: webhookEvent(status, null), json, origin };
    },
  });
  // If the store is lost, no outcome of an attempt could be stored.
  releases.addDrain('webhooks', (drainMs) => worker.stop(store.lost() ? 0 : drainMs));
}
