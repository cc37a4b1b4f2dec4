/** The service as a process: starts it, says where it listens, and stops it on a signal. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedOptions } from './clusters/local-cluster.js';
import { createLogger, standardOutput } from './service/logger.js';
import { OVERRUN_MS, Releases } from './base/releases.js';
import { endAtOnce, onReloadSignal, stopSignal } from './service/shutdown.js';
import { unknownSettings, type Config } from './settings/config.js';
import { openServiceStore } from './store/open-store.js';

/** EX_UNAVAILABLE and EX_IOERR of sysexits.h. */
const EXIT_GPU_LOST = 69;
const EXIT_STORE_LOST = 74;

/** Options of the service for tests; operators cannot set them. */
export type TestOptions = Pick<EmbeddedOptions, 'abortOnPathSuffix'>;

/** Serves until SIGTERM or SIGINT, then drains and resolves. Rejects when it cannot start. */
export async function runService(config: Config, testOptions: TestOptions = {}): Promise<void> {
  const logger = createLogger(config);
  const unknown = unknownSettings();
  if (unknown.length > 0) logger.warn({ unknown }, 'ignoring unknown LATTICE_* variables');
  const stopLogger = createLogger(config, standardOutput({ sync: true }));
  const releases = new Releases(stopLogger, config.drainSeconds * 1_000);
  const stopping = new AbortController();
  let reload: () => void = () => undefined;
  onReloadSignal(() => {
    reload();
  });
  const stopped = stopSignal().then(() => {
    stopping.abort();
  });
  // The exit code tells the supervisor to start a new process, which can use what this one has lost or says why not.
  const endWith = (exitCode: number) => () => {
    process.exitCode = exitCode;
    process.kill(process.pid, 'SIGTERM');
  };
  try {
    const onStoreLost = endWith(EXIT_STORE_LOST);
    const store = openServiceStore({ config, logger, releases, onStoreLost });
    // The start waits for it, and rejects as it does.
    store.catch(() => undefined);
    const { startService } = await import('./service/start-service.js');
    const options = {
      ...testOptions,
      store,
      onGpuLost: endWith(EXIT_GPU_LOST),
      onReload: (then: () => void) => {
        reload = then;
      },
    };
    const url = await startService(config, logger, releases, stopping.signal, options);
    // Written to standard error: standard output carries only the log.
    console.error(
      `lattice-core listening on ${url}\nLive page: ${url}/ui\nTry it:\n  ${exampleCall(config, url)}`,
    );
    await stopped;
    logger.info({ drainSeconds: config.drainSeconds }, 'stopping');
  } finally {
    if (!(await releases.releaseAll())) endAtOnce(stopLogger);
  }
  logger.info({}, 'stopped');
  // The timer does not keep the process alive: it fires only if something else does.
  setTimeout(endAtOnce, OVERRUN_MS, stopLogger).unref();
}

function exampleCall(config: Config, url: string): string {
  const bundled = config.imageRoots.find((root) => existsSync(join(root, 'street.jpg')));
  const body = JSON.stringify({ image_path: bundled === undefined ? 'IMAGE.jpg' : 'street.jpg' });
  const key = config.apiKeysFile === '' ? '' : "-H 'authorization: Bearer KEY' ";
  return `curl -s ${url}/v1/inference/detect ${key}-H 'content-type: application/json' -d '${body}'`;
}
