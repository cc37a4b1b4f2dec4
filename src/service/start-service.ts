/** Assembles the service from its parts and listens. */
import { openAliases } from '../aliases/open-aliases.js';
import { answeringModels } from '../aliases/model-aliases.js';
import { openAnnotator } from '../annotate/open-annotator.js';
import { connectionLimit, descriptorLimit } from '../base/descriptors.js';
import { packageVersion } from '../base/package.js';
import type { ReleaseList } from '../base/releases.js';
import type { EmbeddedOptions } from '../clusters/local-cluster.js';
import { openCluster } from '../clusters/open-cluster.js';
import { LISTING_PROCESSES } from '../files/listing/listing-processes.js';
import { createReadKeyUse } from '../http/access/key-use.js';
import { openAccess } from '../http/access/open-access.js';
import { addHttpMetrics } from '../http/http-metrics.js';
import { listen } from '../http/server/listen.js';
import { openJobs } from '../jobs/open-jobs.js';
import { openMetrics } from '../metrics/open-metrics.js';
import { ConfigError, type Config } from '../settings/config.js';
import { warnOfModelsFolder } from '../settings/setting-folders.js';
import { openServiceStore } from '../store/open-store.js';
import { openUploads } from '../uploads/open-uploads.js';
import { openViews } from '../views/open-views.js';
import { openWatches } from '../watches/open-watches.js';
import { openWebhooks } from '../webhooks/open-webhooks.js';
import { composeApp } from './compose-app.js';
import { logEndedJobs } from './log-ended-jobs.js';
import type { Logger } from './logger.js';
import { openTelemetry } from './open-telemetry.js';
import { openServiceLoad } from './service-load.js';
import { traceEndedJobs } from './trace-ended-jobs.js';

const FEWEST_CONNECTIONS = 64;
/** The first listing of folders starts this long after the service listens, because the first images come first. */
const FIRST_LISTING_MS = 1_000;

export interface ServiceOptions extends EmbeddedOptions {
  onStoreLost: () => void;
  /** Takes what a reload does. */
  onReload: (reload: () => void) => void;
}

/**
 * Returns the address at which the service listens. Each part registers with `releases` how it is stopped, also where
 * the start fails later: the order of release is the reverse of this one.
 */
export async function startService(
  config: Config,
  logger: Logger,
  releases: ReleaseList,
  stopping: AbortSignal,
  { onStoreLost, onReload, ...embedded }: ServiceOptions,
): Promise<string> {
  const version = packageVersion();
  const metrics = openMetrics(releases);
  const access = openAccess(config, logger, stopping);
  const { apiKeys, allowances } = access;
  refuseFewDescriptors();
  const shared = { config, version, logger, metrics, releases, allowances };
  // Open the store before models are loaded or workers started: the folder may belong to another process, or its store
  // may be unfit.
  const store = await openServiceStore({ ...shared, onStoreLost });
  void warnOfModelsFolder(config.modelsDir, logger);
  const stored = await store.aliases();
  const cluster = await openCluster({ ...shared, embedded, aliased: answeringModels(stored) });
  const models = openAliases({ ...shared, store, stored, detector: cluster.detector });
  const { detector } = models;
  const annotator = openAnnotator({ ...shared, store, detector });
  const views = await openViews({ ...shared, store });
  const uploads = await openUploads({ ...shared, store });
  const jobs = await openJobs({ ...shared, store, detector, annotator, views, uploads });
  const watches = await openWatches({ ...shared, store, jobs: jobs.service });
  const tracing = await openTelemetry(version, releases);
  logEndedJobs(jobs.service, logger);
  traceEndedJobs(jobs.service, tracing);
  openWebhooks({ ...shared, store, jobs: jobs.service });
  const keyUse = createReadKeyUse({ apiKeys, allowances, store, uploads, watches });
  const draining = () => stopping.aborted;
  const readiness = { draining, detector, jobsHealth: () => jobs.health() };
  const composed = composeApp({
    ...shared,
    ...models,
    ...readiness,
    cluster,
    clusterStatus: cluster.monitor(jobs.service),
    annotator,
    views,
    uploads,
    jobs: jobs.service,
    watches,
    webhooks: store.webhooks,
    apiKeys,
    keyUse,
    tracing,
    serviceState: openServiceLoad({ ...shared, detector }),
    metrics: addHttpMetrics(metrics, { ...readiness, keyUse }),
  });
  const server = await listen(composed, config, { connections: connectionLimit() }, logger);
  releases.addDrain('server', (drainMs) => server.close(drainMs));
  cluster.start?.(server.url);
  keepListingProcess(releases);
  onReload(() => {
    logger.info({}, 'SIGHUP: reading models and API keys again');
    access.readAgain();
    detector.reloadModels().catch((error: unknown) => {
      logger.error({ error: String(error) }, 'models cannot be reloaded');
    });
  });
  logger.info({ url: server.url, version, node: process.version }, 'listening');
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

function refuseFewDescriptors(): void {
  const missing = FEWEST_CONNECTIONS - connectionLimit();
  if (missing <= 0) return;
  const limit = descriptorLimit();
  throw new ConfigError(
    `The process may open ${limit} files and connections and needs ${limit + missing}: raise the limit ` +
      '(ulimit -n; LimitNOFILE of systemd; --ulimit nofile of docker).',
  );
}
