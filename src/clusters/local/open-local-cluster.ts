/** The cluster of one: the executor with the worker of this process. */
import { join } from 'node:path';
import type { Config } from '../../settings/config.js';
import type { Logger } from '../../base/logger-port.js';
import type { Cluster } from '../cluster.js';
import { Executor } from '../../execution/executor.js';
import { openDetector, type OpenDetectorOptions } from '../../execution/here/open-detector.js';
import { LocalCluster } from './local-cluster.js';

export type EmbeddedOptions = Pick<OpenDetectorOptions, 'abortOnPathSuffix' | 'onGpuLost'>;

/** Rejects as `openDetector`. */
export async function openLocalCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  const worker = await openDetector(config, logger, {
    ...options,
    preload: config.preload,
    crashMarkerPath: join(config.dataDir, 'crash.marker'),
  });
  const { threads, syncQueue } = config;
  const executor = new Executor({
    whyNoWorker: () => 'The service is starting.',
    files: worker,
    syncQueue,
  });
  executor.join(worker);
  return {
    detector: executor,
    watch: (jobs) => new LocalCluster({ detector: executor, jobs, version, threads }),
  };
}
