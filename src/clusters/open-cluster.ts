/** Opens the cluster that the settings name: this process, worker processes on this machine, or Ray. */
import type { Config } from '../settings/config.js';
import type { Cluster } from './cluster.js';
import { openLocalCluster, type EmbeddedOptions } from './local-cluster.js';
import { openProcessCluster } from './processes/open-process-cluster.js';
import { workerDevices } from './processes/worker-devices.js';
import type { Logger } from '../base/logger-port.js';

/** Rejects with a `ConfigError`, or as `openDetector` where images run in this process. */
export async function openCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  if (config.cluster === 'local') {
    const devices = workerDevices(config);
    return devices.length === 0
      ? openLocalCluster(config, version, logger, options)
      : openProcessCluster(config, version, logger, devices);
  }
  // The modules for Ray take 0.1 s to load, and a service without Ray does not need them.
  const { openRayCluster } = await import('./ray/open-ray-cluster.js');
  return openRayCluster(config, version, logger);
}
