/**
 * A worker process: the detector of this machine, served to a lattice-core service elsewhere. Started by whoever
 * places workers (`cluster/lattice_ray` on Ray), with settings from the environment.
 *
 *   LATTICE_SERVICE_URL=ws://HOST:8000 node dist/worker.js
 *
 * Leaves when its standard input ends, so that it never outlives its parent; SIGTERM and SIGINT drain it. Exit
 * codes: 0 drained, 69 the GPU is lost, 78 wrong settings, 1 anything else.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ServiceLink } from './execution/worker/service-link.js';
import { ConfigError, loadConfig, type Config } from './config.js';
import { openDetector } from './execution/open-detector.js';
import { ImageLister } from './jobs/listing/image-lister.js';
import { createLogger } from './observability/logger.js';
import { packageVersion } from './package-version.js';
import { warnOfModelsFolder } from './setting-folders.js';
import { endAtOnce, OVERRUN_MS, Releases } from './shutdown.js';

/** Of sysexits.h. */
const EX_UNAVAILABLE = 69;
const EX_CONFIG = 78;
const ROOT_ANSWERS_WITHIN_MS = 5_000;
const lister = new ImageLister();

async function runWorker(config: Config): Promise<void> {
  if (config.serviceUrl === '') {
    throw new ConfigError('LATTICE_SERVICE_URL is not set: ws://HOST:PORT of the service.');
  }
  const logger = createLogger(config);
  void warnOfModelsFolder(config.modelsDir, logger);
  const nodeId = config.nodeId || hostname();
  const workerId = config.workerId || `${hostname()}-${process.pid}`;
  const stopping = stopSignal();
  const detector = await openDetector(config, logger, {
    workerId,
    onGpuLost: () => {
      // The supervisor starts a new process, which gets the GPU back or says why not.
      process.exit(EX_UNAVAILABLE);
    },
  });
  const releases = new Releases(logger, config.drainSeconds * 1_000 + OVERRUN_MS);
  releases.add('detector', () => detector.close());
  const link = new ServiceLink({
    serviceUrl: config.serviceUrl,
    token: () => readToken(config),
    build: packageVersion(),
    workerId,
    nodeId,
    roots: () => Promise.all(config.imageRoots.map(checkRoot)),
    detector,
    logger,
  });
  const served = link.serve();
  const why = await stopping;
  logger.info({ why, drainSeconds: config.drainSeconds }, 'worker stopping');
  await link.stop(config.drainSeconds * 1_000);
  await served;
  if (!(await releases.releaseAll())) endAtOnce(logger);
}

/** Read at every dial, so that a token can be changed without a restart. */
function readToken({ workerTokenFile }: Config): string | null {
  return workerTokenFile === '' ? null : readFileSync(workerTokenFile, 'utf8').trim();
}

async function checkRoot(path: string): Promise<{ path: string; readable: boolean }> {
  return { path, readable: await lister.isReadable(path, ROOT_ANSWERS_WITHIN_MS) };
}

/** Resolves with the reason to stop; a second signal ends the process at once, a lost parent too. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        resolve(signal);
      });
    }
    // Its parent holds the other end: without it nobody would stop this process.
    process.stdin.on('end', () => process.exit(1));
    process.stdin.on('error', () => process.exit(1));
    process.stdin.resume();
  });
}

try {
  await runWorker(loadConfig());
  process.exit(0);
} catch (error) {
  const wrongSettings = error instanceof ConfigError;
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(wrongSettings ? EX_CONFIG : 1);
}
