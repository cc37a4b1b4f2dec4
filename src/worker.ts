/**
 * A worker process: runs the detector of this machine for a lattice-core service. Its parent is the service itself
 * (`src/clusters/processes`) or, on a Ray cluster, `cluster/lattice_ray`; settings come from the environment.
 *
 *   LATTICE_SERVICE_URL=ws://HOST:8000 node dist/worker.js
 *
 * It ends when its standard input ends, so that it does not outlive its parent. SIGTERM and SIGINT drain it. Exit
 * codes: 0 drained, 69 the GPU is lost, 78 wrong settings, 1 anything else.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ServiceLink } from './execution/far/service-link.js';
import { ConfigError, loadConfig, type Config } from './settings/config.js';
import { openDetector } from './execution/here/open-detector.js';
import { ModelDigests } from './models/model-digests.js';
import { ModelFolder } from './models/model-folder.js';
import { ImageLister, isHanging } from './files/listing/image-lister.js';
import { createLogger, standardOutput } from './service/logger.js';
import { packageVersion } from './base/package.js';
import { warnOfModelsFolder } from './settings/setting-folders.js';
import { OVERRUN_MS, Releases } from './base/releases.js';
import { endAtOnce, onReloadSignal, stopSignal } from './service/shutdown.js';

/** Exit codes of sysexits.h. */
const EX_UNAVAILABLE = 69;
const EX_CONFIG = 78;
const ROOT_ANSWERS_WITHIN_MS = 5_000;
const lister = new ImageLister();

async function runWorker(config: Config): Promise<void> {
  if (config.serviceUrl === '') {
    throw new ConfigError('LATTICE_SERVICE_URL is not set: ws://HOST:PORT of the service.');
  }
  const logger = createLogger(config);
  const stopLogger = createLogger(config, standardOutput({ sync: true }));
  void warnOfModelsFolder(config.modelsDir, logger);
  const nodeId = config.nodeId || hostname();
  const workerId = config.workerId || `${hostname()}-${process.pid}`;
  const stopping = stopSignal();
  endWithParent();
  const drainMs = config.drainSeconds * 1_000;
  void stopping.then(() => {
    // Ends the process if a load or a drain hangs. Unreferenced: it does not keep the process alive.
    setTimeout(endAtOnce, drainMs + OVERRUN_MS, stopLogger).unref();
  });
  const token = await createTokenReader(config);
  const detector = await openDetector(config, logger, {
    workerId,
    preload: config.preload,
    onGpuLost: () => {
      // The supervisor starts a new process, which gets the GPU back or says why not.
      process.exit(EX_UNAVAILABLE);
    },
  });
  onReloadSignal(() => {
    detector.reloadModels().catch(() => undefined);
  });
  const releases = new Releases(stopLogger, drainMs);
  releases.add('detector', () => detector.close());
  const digests = new ModelDigests(await ModelFolder.open(config));
  await digests.ready();
  const link = new ServiceLink({
    serviceUrl: config.serviceUrl,
    token,
    build: packageVersion(),
    workerId,
    nodeId,
    roots: () => Promise.all(config.imageRoots.map(checkRoot)),
    detector,
    modelDigests: () => digests.current(),
    maxImageBytes: config.maxFileBytes,
    report: (line) => {
      console.error(line);
    },
    logger,
  });
  const served = link.serve();
  const why = await stopping;
  logger.info({ why, drainSeconds: config.drainSeconds }, 'worker stopping');
  await link.stop(drainMs);
  await served;
  if (!(await releases.releaseAll())) endAtOnce(stopLogger);
}

/**
 * A file is read at every dial, so that the token can be changed without a restart. `-` is the first line of standard
 * input, read once: a parent hands over a token this way that no file, command line or environment shows.
 */
async function createTokenReader({ workerTokenFile }: Config): Promise<() => string | null> {
  if (workerTokenFile === '') return () => null;
  if (workerTokenFile !== '-') return () => readFileSync(workerTokenFile, 'utf8').trim();
  const token = await new Promise<string>((resolve) => {
    let text = '';
    process.stdin.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.split('\n', 1)[0] ?? '');
    });
  });
  return () => token;
}

async function checkRoot(path: string): Promise<{ path: string; readable: boolean }> {
  const place = { root: path, relative: '.' };
  const asked = lister.ask('isReadable', place, ROOT_ANSWERS_WITHIN_MS);
  // On an overloaded machine the question has no answer, and images show whether the folder can be read.
  return { path, readable: await asked.catch((error: unknown) => !isHanging(error)) };
}

/** The parent holds the other end of standard input; without it nothing would stop this process. */
function endWithParent(): void {
  process.stdin.on('end', () => process.exit(1));
  process.stdin.on('error', () => process.exit(1));
  process.stdin.resume();
}

async function endWith(work: () => Promise<void>): Promise<never> {
  try {
    await work();
    process.exit(0);
  } catch (error) {
    const wrongSettings = error instanceof ConfigError;
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(wrongSettings ? EX_CONFIG : 1);
  }
}

void endWith(() => runWorker(loadConfig()));
