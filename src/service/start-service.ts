/** Assembles the service from its parts and listens. */
import { connectionLimit } from '../base/descriptors.js';
import type { ReleaseList } from '../base/releases.js';
import { LISTING_PROCESSES } from '../files/listing/listing-processes.js';
import { createReadKeyUse } from '../http/access/key-use.js';
import { addHttpMetrics } from '../http/http-metrics.js';
import { listen } from '../http/server/listen.js';
import type { Config } from '../settings/config.js';
import type { Logger } from './logger.js';
import { openParts, type PartsOptions } from './open-parts.js';
import { openServiceLoad } from './service-load.js';

/** The first listing of folders starts this long after the service listens, because the first images come first. */
const FIRST_LISTING_MS = 1_000;

export interface ServiceOptions extends PartsOptions {
  /** Takes what a reload does. */
  onReload: (reload: () => void) => void;
}

/** Returns the address at which the service listens; `releases` as `openParts`. */
export async function startService(
  config: Config,
  logger: Logger,
  releases: ReleaseList,
  stopping: AbortSignal,
  { onReload, ...options }: ServiceOptions,
): Promise<string> {
  const parts = await openParts(config, logger, releases, stopping, options);
  const { shared, access, store, cluster, models, jobs, watches } = parts;
  const { detector } = models;
  const keyUse = createReadKeyUse({ ...shared, ...access, ...parts });
  const draining = () => stopping.aborted;
  const readiness = { draining, detector, jobsHealth: () => jobs.health() };
  // Its modules are loaded while the models are.
  const { composeApp } = await import('./compose-app.js');
  const composed = composeApp({
    ...shared,
    ...models,
    ...readiness,
    cluster,
    clusterStatus: cluster.monitor(jobs.service),
    annotator: parts.annotator,
    views: parts.views,
    uploads: parts.uploads,
    jobs: jobs.service,
    watches,
    webhooks: store.webhooks,
    apiKeys: access.apiKeys,
    keyUse,
    tracing: parts.tracing,
    serviceState: openServiceLoad({ ...shared, detector }),
    metrics: addHttpMetrics(shared.metrics, { ...readiness, keyUse }),
  });
  await cluster.loaded;
  const server = await listen(composed, config, { connections: connectionLimit() }, logger);
  releases.addDrain('server', (drainMs) => server.close(drainMs));
  cluster.start?.(server.url);
  // An image that kills the process again and again does so in a service that listens.
  jobs.start();
  keepListingProcess(releases);
  onReload(() => {
    logger.info({}, 'SIGHUP: reading models and API keys again');
    access.readAgain();
    detector.reloadModels().catch((error: unknown) => {
      logger.error({ error: String(error) }, 'models cannot be reloaded');
    });
  });
  logger.info({ url: server.url, version: shared.version, node: process.version }, 'listening');
  return server.url;
}

/** The first listing of a folder then waits for no process to start. */
function keepListingProcess(releases: ReleaseList): void {
  const timer = setTimeout(() => {
    LISTING_PROCESSES.keepOne();
  }, FIRST_LISTING_MS).unref();
  releases.add('listing process', () => {
    clearTimeout(timer);
  });
}
