/** Images run in the process of the service. */
import type { Logger } from '../base/logger-port.js';
import { Executor } from '../execution/executor.js';
import { startDetector, type OpenDetectorOptions } from '../execution/here/open-detector.js';
import type { Config } from '../settings/config.js';
import { crashMarkerPath } from '../store/crash-marker.js';
import type { Cluster } from './cluster.js';
import { MachineStatus } from './machine-status.js';

export type EmbeddedOptions = Pick<
  OpenDetectorOptions,
  'abortOnPathSuffix' | 'mainModel' | 'onGpuLost'
>;

/** Rejects as `startDetector`. */
export async function openLocalCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  const { worker, loaded } = await startDetector(config, logger, {
    ...options,
    preload: config.preload,
    // The file names the images of this process if it dies; the next start reads it.
    crashMarkerPath: crashMarkerPath(config.dataDir),
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
    loaded,
    gate: null,
    monitor: (jobs) => new MachineStatus({ detector: executor, jobs, version, threads }),
    close: () => executor.close(),
  };
}
