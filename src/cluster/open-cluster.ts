/** The cluster that the settings ask for. */
import type { Config } from '../config.js';
import type { Cluster } from './cluster.js';
import { openLocalCluster, type EmbeddedOptions } from './local/open-local-cluster.js';
import type { Logger } from './logger.js';
import { openRayCluster } from './ray/open-ray-cluster.js';

/** Rejects with a `ConfigError`, or as `openDetector` where images run in this process. */
export function openCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  return config.cluster === 'ray'
    ? openRayCluster(config, version, logger)
    : openLocalCluster(config, version, logger, options);
}
