/** Assembles the service but for its HTTP port: the models, the jobs and what belongs to them, on an opened store. */
import { openAliases } from '../aliases/open-aliases.js';
import { answeringModels } from '../aliases/model-aliases.js';
import { openAnnotator } from '../annotate/open-annotator.js';
import { connectionLimit, descriptorLimit } from '../base/descriptors.js';
import { packageVersion } from '../base/package.js';
import type { ReleaseList } from '../base/releases.js';
import type { EmbeddedOptions } from '../clusters/local-cluster.js';
import { openCluster } from '../clusters/open-cluster.js';
import { openAccess } from '../http/access/open-access.js';
import { openJobs } from '../jobs/open-jobs.js';
import { openMetrics } from '../metrics/open-metrics.js';
import { ConfigError, type Config } from '../settings/config.js';
import { warnOfModelsFolder } from '../settings/setting-folders.js';
import type { ServiceStore } from '../store/service-store.js';
import { openUploads } from '../uploads/open-uploads.js';
import { openViews } from '../views/open-views.js';
import { openWatches } from '../watches/open-watches.js';
import { openWebhooks } from '../webhooks/open-webhooks.js';
import { logEndedJobs } from './log-ended-jobs.js';
import type { Logger } from './logger.js';
import { openTelemetry } from './open-telemetry.js';
import { traceEndedJobs } from './trace-ended-jobs.js';

const FEWEST_CONNECTIONS = 64;

export interface PartsOptions extends EmbeddedOptions {
  /** That of `openServiceStore`, whose thread starts while these modules are loaded. */
  store: Promise<ServiceStore>;
}

/**
 * The models of `cluster` may still be loading: the rest of the start is done meanwhile. Jobs wait for `jobs.start`.
 * Each part registers with `releases` how it is stopped, also where the start fails later: the order of release is the
 * reverse of this one.
 */
export async function openParts(
  config: Config,
  logger: Logger,
  releases: ReleaseList,
  stopping: AbortSignal,
  { store: opening, ...embedded }: PartsOptions,
) {
  // Wait for the store before models are loaded or workers started: the folder may belong to another process, or its
  // store may be unfit.
  const store = await opening;
  const version = packageVersion();
  const metrics = openMetrics(releases);
  const access = openAccess(config, logger, stopping);
  const { allowances } = access;
  refuseFewDescriptors();
  const shared = { config, version, logger, metrics, releases, allowances };
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
  return {
    shared,
    access,
    store,
    cluster,
    models,
    annotator,
    views,
    uploads,
    jobs,
    watches,
    tracing,
  };
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
