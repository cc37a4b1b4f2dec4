/** Opens the cluster that the settings name: this process, worker processes on this machine, or Ray. */
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Config } from '../settings/config.js';
import type { Cluster } from './cluster.js';
import { addClusterMetrics } from './cluster-metrics.js';
import { openLocalCluster, type EmbeddedOptions } from './local-cluster.js';
import { openProcessCluster } from './processes/open-process-cluster.js';
import { workerDevices } from './processes/worker-devices.js';

export interface ClusterParts {
  config: Config;
  version: string;
  /** Names of models that answer under aliases: loaded at the start, after those of the settings (not on Ray). */
  aliased: readonly string[];
  /** Options for images that run in this process. */
  embedded: EmbeddedOptions;
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

/** Rejects with a `ConfigError`, or as `startDetector` where images run in this process. */
export async function openCluster(parts: ClusterParts): Promise<Cluster> {
  const cluster = await clusterOf(parts);
  parts.releases.add('cluster', () => cluster.close());
  addClusterMetrics(parts.metrics, parts.version, cluster);
  return cluster;
}

async function clusterOf(parts: ClusterParts): Promise<Cluster> {
  const { config, version, logger, aliased, embedded } = parts;
  if (config.cluster === 'local') {
    const devices = workerDevices(config);
    const loading = { ...config, preload: [...config.preload, ...aliased] };
    return devices.length === 0
      ? openLocalCluster(loading, version, logger, embedded)
      : openProcessCluster(loading, version, logger, devices);
  }
  // Do not pass `aliased`: the models to preload are settings of a worker, and Ray workers whose settings differ are
  // replaced. A changed alias would replace them at the next start.

  // The modules for Ray take 0.1 s to load, and a service without Ray does not need them.
  const { openRayCluster } = await import('./ray/open-ray-cluster.js');
  return openRayCluster(config, version, logger);
}
