/** Assembles the service from its parts and listens. */
import { availableParallelism, loadavg } from 'node:os';
import { Annotator } from '../annotate/annotate.js';
import { withAliases } from '../aliases/aliased-detector.js';
import { answeringModels, ModelAliases } from '../aliases/model-aliases.js';
import { ShadowRuns } from '../aliases/shadow-runs.js';
import { LatticeError } from '../api/errors.js';
import { Allowances } from '../api/quotas.js';
import { serviceState } from '../api/service-state.js';
import { CpuWaitRatio } from '../base/own-time.js';
import { connectionLimit, descriptorLimit } from '../base/descriptors.js';
import { packageVersion } from '../base/package.js';
import type { EmbeddedOptions } from '../clusters/local-cluster.js';
import { openCluster } from '../clusters/open-cluster.js';
import { ApiKeys } from '../http/access/api-keys.js';
import { webhookRecord } from '../http/routes/jobs/result-record.js';
import { createHideFolders } from '../http/answer/problem.js';
import { listen } from '../http/server/listen.js';
import { fileLooks } from '../files/file-looks.js';
import { LISTING_PROCESSES } from '../files/listing/listing-processes.js';
import { PictureTimes } from '../files/picture-times.js';
import { crashMarkerPath } from '../store/crash-marker.js';
import type { JobService } from '../jobs/job-service.js';
import { openJobs } from '../jobs/open-jobs.js';
import { openStore, type ServiceStore, type WebhookQueue } from '../store/service-store.js';
import { storeAllowances } from '../store/store-allowances.js';
import { openUploads } from '../uploads/open-uploads.js';
import type { Uploads } from '../uploads/uploads.js';
import { Views } from '../views/views.js';
import { MOST_WATCHES } from '../store/watched.js';
import { ConfigError, isLoopback, type Config } from '../settings/config.js';
import { makeDataFolder, warnOfModelsFolder } from '../settings/setting-folders.js';
import { WebhookWorker } from '../webhooks/webhook-worker.js';
import { Watches } from '../watches/watches.js';
import { composeApp } from './compose-app.js';
import { pruneDrawnCopies } from './drawn-copies.js';
import { readKeyUse, type UseSources } from './key-use.js';
import { openTelemetry } from './open-telemetry.js';
import { traceEndedJobs } from './trace-ended-jobs.js';
import { logEndedJobs } from './log-ended-jobs.js';
import { feedMetrics } from './feed-metrics.js';
import type { Logger } from './logger.js';
import { Metrics } from './metrics.js';
import type { Releases } from './shutdown.js';

const FEWEST_CONNECTIONS = 64;
const MIB = 1024 * 1024;
/** After the service listens: the first images come first. */
const FIRST_LISTING_MS = 1_000;

/**
 * Returns the address at which the service listens. Each part registers with `releases` how it is stopped, also where
 * the start fails later: the order of release is the reverse of this one.
 */
export async function startService(
  config: Config,
  logger: Logger,
  releases: Releases,
  stopping: AbortSignal,
  options: EmbeddedOptions & { onStoreLost: () => void; onReload: (reload: () => void) => void },
): Promise<string> {
  const version = packageVersion();
  const apiKeys = config.apiKeysFile === '' ? null : ApiKeys.readFile(config.apiKeysFile, stopping);
  refuseOpenAddress(config, apiKeys);
  warnOfEqualKeys(config, logger, apiKeys);
  refuseFewDescriptors();
  makeDataFolder(config.dataDir);
  // Before models are loaded or workers started: the folder may be another process's, or its store unfit.
  const store = await openStore(config.dataDir, null, (reason) => {
    logger.error({ reason }, 'the job store can no longer be written: the process ends');
    options.onStoreLost();
  });
  // Nothing that jobs and webhooks still do could be stored.
  const drainTime = (drainMs: number) => (store.lost() ? 0 : drainMs);
  releases.add('job store', () => store.close());
  void warnOfModelsFolder(config.modelsDir, logger);
  const storedAliases = await store.aliases();
  const cluster = await openCluster(config, version, logger, {
    ...options,
    crashMarkerPath: crashMarkerPath(config.dataDir),
    aliased: answeringModels(storedAliases),
  });
  releases.add('cluster', () => cluster.close());
  const { detector: executor } = cluster;
  const stats = executor.stats();
  const metrics = new Metrics({ version, device: stats.device, precision: stats.precision });
  executor.onImage = (outcome, result) => {
    metrics.observeImage(outcome, result);
  };
  const aliases = new ModelAliases(store, executor, storedAliases);
  const shadows = new ShadowRuns({
    detector: executor,
    find: (name) => aliases.find(name),
    logger,
    onPicture: (alias, outcome) => {
      metrics.countShadow(alias, outcome);
    },
  });
  releases.add('shadows', () => {
    shadows.close();
  });
  const detector = withAliases(executor, aliases, shadows);
  const annotator = new Annotator({ detector, ...config });
  const times = new PictureTimes(config.imageRoots);
  const mostBytes = config.storeMaxMb * MIB;
  const allowances = new Allowances(apiKeys === null ? null : () => apiKeys.marks, {
    store: mostBytes,
    uploads: config.uploadsMaxMb * MIB,
    jobs: config.maxQueuedJobs,
    watches: MOST_WATCHES,
    requests: 0,
  });
  const views = await Views.open(
    store,
    config.imageRoots,
    storeAllowances(store, allowances, mostBytes),
  );
  const uploads = await openUploads(store, {
    dataDir: config.dataDir,
    limits: {
      maxBytes: config.uploadsMaxMb * MIB,
      maxFileBytes: config.maxFileBytes,
      maxFiles: config.maxImagesPerJob,
    },
    imageRoots: config.imageRoots,
    allowances,
    logger,
  });
  const jobs = await openJobs(store, {
    dataDir: config.dataDir,
    detector,
    maxQueuedJobs: config.maxQueuedJobs,
    allowances,
    resultTtlHours: config.resultTtlHours,
    volumePatienceMs: config.volumePatienceSeconds * 1_000,
    logger,
    mostBytes,
    removeCopies: (names) => annotator.remove(names),
    uploads,
    views,
    annotate: (image, detections, keyId) => annotator.annotate(image, detections, keyId),
    readTime: (path, root) => times.of(path, root),
    reuse: {
      environment: JSON.stringify([version, config.rectangles]),
      look: fileLooks(config.imageRoots),
    },
    onReused: (images) => {
      metrics.countReused(images);
    },
  });
  releases.addDrain('jobs', (drainMs) => jobs.drain(drainTime(drainMs)));
  releases.add('jobs', () => jobs.stop(0));
  const watches = await Watches.open({
    ledger: store,
    jobs: jobs.service,
    imageRoots: config.imageRoots,
    logger,
    notices: config.watchNotices,
    allowances,
    onLag: (watch, seconds) => {
      metrics.observeWatchLag(watch, seconds);
    },
  });
  releases.addDrain('watches', () => watches.stop());
  const useSources = useSourcesOf(store, uploads, watches, apiKeys);
  const keyUse = (owners?: readonly (string | null)[]) =>
    readKeyUse(apiKeys, allowances, useSources, owners);
  const draining = () => stopping.aborted;
  const copies = pruneDrawnCopies(annotator, store, config.resultTtlHours, logger);
  const cpuWait = new CpuWaitRatio();
  releases.add('CPU wait', () => {
    cpuWait.stop();
  });
  feedMetrics(metrics, {
    cpuWaitRatio: () => cpuWait.value,
    cluster,
    store,
    jobs,
    watches,
    shadows,
    keyUse: () => (apiKeys === null ? Promise.resolve([]) : keyUse()),
    draining,
    drawnBytes: () => copies.bytes(),
  });
  logEndedJobs(jobs.service, logger);
  const tracing = await openTelemetry(version);
  if (tracing !== null) {
    traceEndedJobs(jobs.service, tracing);
    releases.add('traces', () => tracing.stop());
  }
  releases.add('metrics', () => {
    metrics.close();
  });
  releases.add('drawn copies', () => {
    copies.stop();
  });
  const webhooks = startResultWebhooks(config, logger, metrics, jobs.service, store.webhooks);
  releases.addDrain('webhooks', (drainMs) => webhooks.stop(drainTime(drainMs)));

  const clusterStatus = cluster.watch(jobs.service);
  const composed = composeApp({
    config,
    version,
    jobs: jobs.service,
    uploads,
    views,
    watches,
    jobsHealth: () => jobs.health(),
    detector,
    aliases,
    shadows,
    cluster: clusterStatus,
    serviceState: (waiting) =>
      serviceState({
        cpuWaitRatio: cpuWait.value,
        load: loadavg()[0] ?? 0,
        cpus: availableParallelism(),
        hangingFolders: executor.stats().hangingFolders,
        waiting,
      }),
    workers: () => executor.workers(),
    modelDigests: () => executor.modelDigests(),
    absentWorkers: () => cluster.absent?.() ?? [],
    gate: cluster.gate,
    metrics,
    logger,
    tracing,
    apiKeys,
    keyUse,
    draining,
    readAnnotated: (file, keyId) => annotator.read(file, keyId),
    annotate: (image, detections, keyId) => annotator.annotate(image, detections, keyId),
    draw: (image, detections) => annotator.draw(image, detections),
    webhooks: store.webhooks,
  });
  const server = await listen(composed, config, { connections: connectionLimit() }, logger);
  releases.addDrain('server', (drainMs) => server.close(drainMs));
  cluster.start?.(server.url);
  const listing = setTimeout(() => {
    LISTING_PROCESSES.keepOne();
  }, FIRST_LISTING_MS).unref();
  releases.add('listing process', () => {
    clearTimeout(listing);
  });
  options.onReload(() => {
    logger.info({}, 'SIGHUP: reading models and API keys again');
    readKeysAgain(config, logger, apiKeys);
    detector.reloadModels().catch((error: unknown) => {
      logger.error({ error: String(error) }, 'models cannot be reloaded');
    });
  });
  logger.info({ url: server.url, version, node: process.version }, 'listening');
  return server.url;
}

function useSourcesOf(
  store: ServiceStore,
  uploads: Uploads,
  watches: Watches,
  apiKeys: ApiKeys | null,
): UseSources {
  const ofStore = async (what: 'bytes' | 'unfinished') => {
    const use = await store.storeUse();
    const byOwner = new Map(use.map((each) => [each.owner, each[what]]));
    return (owner: string | null) => byOwner.get(owner ?? '') ?? 0;
  };
  return {
    store: () => ofStore('bytes'),
    jobs: () => ofStore('unfinished'),
    uploads: () => {
      const taken = uploads.taken();
      return Promise.resolve((owner) => taken.get(owner) ?? 0);
    },
    watches: () => {
      const counts = watches.counts();
      return Promise.resolve((owner) => counts.get(owner ?? '') ?? 0);
    },
    requests: () =>
      Promise.resolve((owner) => (owner === null ? 0 : (apiKeys?.requestsPerSecond(owner) ?? 0))),
  };
}

/** Open event streams stay open until their client leaves. */
function readKeysAgain(config: Config, logger: Logger, apiKeys: ApiKeys | null): void {
  try {
    apiKeys?.readAgain(config.apiKeysFile);
    warnOfEqualKeys(config, logger, apiKeys);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    logger.error({ fault }, 'the API keys cannot be read again; those there are stay');
  }
}

function startResultWebhooks(
  config: Config,
  logger: Logger,
  metrics: Metrics,
  jobs: JobService,
  queue: WebhookQueue,
): WebhookWorker {
  const hide = createHideFolders(config);
  return new WebhookWorker({
    queue,
    config,
    logger,
    onAttempt: (outcome) => {
      metrics.countWebhookAttempt(outcome);
    },
    body: async (jobId) => {
      const job = await jobs.get(jobId, null).catch((error: unknown) => {
        if (error instanceof LatticeError && error.code === 'job_not_found') return null;
        throw error;
      });
      if (job === null) return null;
      const json = await webhookRecord(job, jobs.imagePages(jobId), hide);
      return { status: job.status, json, origin: job.spec.origin };
    },
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

/** Warns of harm that keys can do to each other as long as the key file and the settings say no more. */
function warnOfEqualKeys(config: Config, logger: Logger, apiKeys: ApiKeys | null): void {
  if (apiKeys === null || apiKeys.marks.size === 1) return;
  const keys = apiKeys.marks.size;
  if (!apiKeys.hasAdmin) {
    logger.warn(
      { keys },
      'no API key has the mark admin: every key may change models and aliases for all; write [admin] behind the keys ' +
        'that may',
    );
  }
  if (config.storeMaxMb === 0) {
    logger.warn(
      { keys },
      'LATTICE_STORE_MAX_MB is 0: the job store has no bound of which keys have shares, and one key can fill the disk',
    );
  }
}

/** Fails closed: a service without keys must not be reachable by accident. */
function refuseOpenAddress(config: Config, apiKeys: ApiKeys | null): void {
  if (apiKeys !== null || config.insecure) return;
  if (config.env === 'production') {
    throw new ConfigError(
      'LATTICE_ENV=production needs LATTICE_API_KEYS_FILE (or LATTICE_INSECURE=1).',
    );
  }
  if (!isLoopback(config.host)) {
    throw new ConfigError(
      `LATTICE_HOST=${config.host} is reachable from other machines and no API keys are set. ` +
        'Set LATTICE_API_KEYS_FILE, or LATTICE_INSECURE=1 where the network is trusted.',
    );
  }
}
