/** The cluster that the settings ask for. */
import type { Config } from './config.js';
import type { Cluster } from './execution/cluster.js';
import { openLocalCluster, type EmbeddedOptions } from './execution/local/open-local-cluster.js';
import type { Logger } from './logger-port.js';

/** Rejects with a `ConfigError`, or as `openDetector` where images run in this process. */
export async function openCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  if (config.cluster === 'local') return openLocalCluster(config, version, logger, options);
  // What Ray needs takes a tenth of a second to load, which a service of its own need not wait for.
  const { openRayCluster } = await import('./ray/open-ray-cluster.js');
  return openRayCluster(config, version, logger);
}
