/** Assembles the service, listens, and stops it on a signal. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion } from './base/package.js';
import { openCluster } from './clusters/open-cluster.js';
import { composeApp } from './service/compose-app.js';
import { ConfigError, isLoopback, unknownSettings, type Config } from './settings/config.js';
import { LatticeError } from './api/errors.js';
import { ApiKeys } from './http/api-keys.js';
import { webhookRecord } from './http/jobs/webhook-record.js';
import { createHideFolders } from './http/problem.js';
import { listen } from './http/serve.js';
import { Annotator } from './annotate/annotate.js';
import { oldestKeptJob } from './service/oldest-kept-job.js';
import { feedMetrics } from './service/feed-metrics.js';
import type { OpenDetectorOptions } from './execution/here/open-detector.js';
import { setCrashMarkerAside } from './jobs/crash-marker.js';
import { openJobs, openJobStore, type Jobs } from './jobs/open-jobs.js';
import { createLogger, standardOutput, type Logger } from './service/logger.js';
import { Metrics } from './service/metrics.js';
import { makeDataFolder, warnOfModelsFolder } from './settings/setting-folders.js';
import { endAtOnce, OVERRUN_MS, Releases } from './service/shutdown.js';
import { WebhookWorker } from './webhooks/webhook-worker.js';

const HOUR_MS = 3_600_000;
/** EX_UNAVAILABLE of sysexits.h. */
const EXIT_GPU_LOST = 69;

/** What tests may change beneath the service; nothing that an operator sets. */
export type TestOptions = Pick<OpenDetectorOptions, 'abortOnPathSuffix'>;

/** Serves until SIGTERM or SIGINT, then drains and resolves. Rejects when it cannot start. */
export async function runService(config: Config, testOptions: TestOptions = {}): Promise<void> {
  const logger = createLogger(config);
  const unknown = unknownSettings();
  if (unknown.length > 0) logger.warn({ unknown }, 'ignoring unknown LATTICE_* variables');
  const stopLogger = createLogger(config, standardOutput({ sync: true }));
  const releases = new Releases(stopLogger, config.drainSeconds * 1_000);
  const stopping = new AbortController();
  const stopped = stopSignal(stopping);
  const onGpuLost = () => {
    // For the supervisor: a new process gets the GPU back, or says why not.
    process.exitCode = EXIT_GPU_LOST;
    process.kill(process.pid, 'SIGTERM');
  };
  try {
    const options = { ...testOptions, onGpuLost };
    const url = await startService(config, logger, releases, stopping.signal, options);
    // On standard error: standard output carries only the log.
    console.error(
      `lattice-core listening on ${url}\nLive page: ${url}/ui\nTry it:\n  ${exampleCall(config, url)}`,
    );
    await stopped;
    logger.info({ drainSeconds: config.drainSeconds }, 'stopping');
  } finally {
    if (!(await releases.releaseAll())) endAtOnce(stopLogger);
  }
  logger.info({}, 'stopped');
  // The timer keeps no process alive: it fires only where something else does.
  setTimeout(endAtOnce, OVERRUN_MS, stopLogger).unref();
}

/** Each part registers how it is stopped; the order of release is the reverse of this one. */
async function startService(
  config: Config,
  logger: Logger,
  releases: Releases,
  stopping: AbortSignal,
  detectorOptions: Pick<OpenDetectorOptions, 'abortOnPathSuffix' | 'onGpuLost'>,
): Promise<string> {
  const version = packageVersion();
  const apiKeys = readApiKeys(config);
  refuseOpenAddress(config, apiKeys);
  makeDataFolder(config.dataDir);
  // Before models are loaded or workers started: the folder may be another process's, or its store unfit.
  const store = await openJobStore(config.dataDir);
  releases.add('job store', () => store.close());
  void warnOfModelsFolder(config.modelsDir, logger);
  // The addon empties the marker when it opens it: what the last process left must be out of its way.
  setCrashMarkerAside(config.dataDir);

  const cluster = await openCluster(config, version, logger, detectorOptions);
  releases.add('detector', () => cluster.detector.close());
  const { detector } = cluster;
  const stats = detector.stats();
  const metrics = new Metrics({ version, device: stats.device, precision: stats.precision });
  detector.onImage = (outcome, result) => {
    metrics.observeImage(outcome, result);
  };
  const annotator = new Annotator({ detector, ...config });
  const jobs = await openJobs(store, {
    dataDir: config.dataDir,
    detector,
    maxQueuedJobs: config.maxQueuedJobs,
    resultTtlHours: config.resultTtlHours,
    volumePatienceMs: config.volumePatienceSeconds * 1_000,
    logger,
    annotate: (_jobId, _index, path, detections) => annotator.annotate(path, detections),
  });
  releases.addDrain('jobs', (drainMs) => jobs.drain(drainMs));
  releases.add('jobs', () => jobs.stop(0));
  const draining = () => stopping.aborted;
  feedMetrics(metrics, { cluster, jobs, draining });
  releases.add('metrics', () => {
    metrics.close();
  });
  releases.add('drawn copies', pruneDrawnCopies(annotator, jobs, config.resultTtlHours, logger));
  const webhooks = startResultWebhooks(config, logger, metrics, jobs);
  releases.addDrain('webhooks', (drainMs) => webhooks.stop(drainMs));

  const clusterStatus = cluster.watch(jobs.service);
  releases.add('cluster', () => cluster.close?.());
  const composed = composeApp({
    config,
    version,
    jobs: jobs.service,
    jobsHealth: () => jobs.health(),
    detector,
    cluster: clusterStatus,
    workers: () => detector.workers(),
    leftOutWorkers: () => cluster.leftOut?.() ?? [],
    ...(cluster.gate === undefined ? {} : { gate: cluster.gate }),
    metrics,
    logger,
    apiKeys,
    draining,
    readAnnotated: (file) => annotator.read(file),
    annotate: (image, detections) => annotator.annotate(image, detections),
    webhooks: jobs.webhooks,
  });
  const server = await listen(composed, config);
  releases.addDrain('server', (drainMs) => server.close(drainMs));
  cluster.start?.(server.url);
  logger.info({ url: server.url, version, node: process.version }, 'listening');
  return server.url;
}

function startResultWebhooks(
  config: Config,
  logger: Logger,
  metrics: Metrics,
  jobs: Jobs,
): WebhookWorker {
  const hide = createHideFolders([...config.imageRoots, config.modelsDir, config.dataDir]);
  return new WebhookWorker({
    queue: jobs.webhooks,
    config,
    logger,
    onAttempt: (outcome) => {
      metrics.countWebhookAttempt(outcome);
    },
    body: async (jobId) => {
      const job = await jobs.service.get(jobId, null).catch((error: unknown) => {
        if (error instanceof LatticeError && error.code === 'job_not_found') return null;
        throw error;
      });
      return job && webhookRecord(job, jobs.service.imagePages(jobId), hide);
    },
  });
}

/** Drawn copies live as long as the jobs that name them. Returns how to stop. */
function pruneDrawnCopies(annotator: Annotator, jobs: Jobs, ttlHours: number, logger: Logger) {
  const prune = async () => {
    const before = Date.now() - ttlHours * HOUR_MS;
    await annotator.prune(await oldestKeptJob(jobs.service, before));
  };
  const timer = setInterval(() => {
    prune().catch((error: unknown) => {
      logger.warn({ error: String(error) }, 'old drawn copies cannot be removed');
    });
  }, HOUR_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

function readApiKeys(config: Config): ApiKeys | null {
  return config.apiKeysFile === '' ? null : ApiKeys.readFile(config.apiKeysFile);
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

/** Aborts `stopping` and resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(stopping: AbortController): Promise<void> {
  return new Promise((resolve) => {
    const onSignal = () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort();
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

function exampleCall(config: Config, url: string): string {
  const bundled = config.imageRoots.find((root) => existsSync(join(root, 'street.jpg')));
  const body = JSON.stringify({ image_path: bundled === undefined ? 'IMAGE.jpg' : 'street.jpg' });
  const key = config.apiKeysFile === '' ? '' : "-H 'authorization: Bearer KEY' ";
  return `curl -s ${url}/v1/inference/detect ${key}-H 'content-type: application/json' -d '${body}'`;
}
