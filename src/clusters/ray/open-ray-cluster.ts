/** A Ray cluster: Ray starts the workers, and its head reports the state of the machines. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package.js';
import {
  ConfigError,
  environmentName,
  environmentOf,
  isLoopback,
  type Config,
} from '../../settings/config.js';
import { settingsFor } from '../../settings/settings.js';
import type { Cluster } from '../cluster.js';
import type { Logger } from '../../base/logger-port.js';
import { openWorkerCluster } from '../worker-cluster.js';
import { parseRayAddress } from './ray-address.js';
import { RayCluster } from './ray-cluster.js';
import { RayWorkers } from './ray-workers.js';
import { SharedNodes } from './shared-nodes.js';

/** Rejects with a `ConfigError`. Neither the workers nor the cluster need be there. */
export async function openRayCluster(
  config: Config,
  version: string,
  logger: Logger,
): Promise<Cluster> {
  const address = parseRayAddress(config.rayAddress);
  const token = readWorkerToken(config);
  let status: RayCluster | null = null;
  const connected = () => status?.connected() === true;
  const workers = openWorkers(config, version, connected, logger);
  return openWorkerCluster(config, version, logger, {
    gate: { token },
    whyNoWorker: (what) => whyNoWorker(what, config, status, workers),
    monitor: (executor, jobs) => {
      const shared = new SharedNodes();
      status = new RayCluster({
        address,
        namespace: config.rayNamespace,
        tokenFile: config.rayTokenFile,
        jobs,
        logger,
        // A head that came back knows none of the workers it had, and a new node has none yet.
        onNodes: () => workers?.startWorkers(),
        onList: (nodes) => {
          const fault = shared.see(
            nodes,
            executor.workers().map(({ worker }) => worker),
          );
          if (fault === null) return;
          const remedy =
            workers === null ? 'run python -m lattice_ray up' : 'the service runs up again';
          logger.warn({ namespace: config.rayNamespace }, `${fault}: ${remedy}.`);
          workers?.startWorkers();
        },
      });
      return status;
    },
    close: async () => {
      await workers?.close();
      await status?.close();
    },
  });
}

function readWorkerToken({ workerTokenFile, host, insecure }: Config): string | null {
  const name = environmentName('workerTokenFile');
  if (workerTokenFile === '') {
    if (isLoopback(host) || insecure) return null;
    throw new ConfigError(
      `Workers come in at ${host}, which other machines reach: set ${name} to a file with a secret.`,
    );
  }
  try {
    const token = readFileSync(workerTokenFile, 'utf8').trim();
    if (token.length >= 16) return token;
  } catch (error) {
    throw new ConfigError(`${name}: ${workerTokenFile} cannot be read: ${String(error)}`);
  }
  throw new ConfigError(`${name}: the secret needs 16 characters or more.`);
}

/** Null where an operator starts the workers. */
function openWorkers(
  config: Config,
  version: string,
  connected: () => boolean,
  logger: Logger,
): RayWorkers | null {
  if (config.rayDashboard === '') return null;
  return new RayWorkers({
    dashboard: config.rayDashboard,
    namespace: config.rayNamespace,
    workers: config.rayWorkers,
    serviceUrl: serviceUrl(config),
    // Every node has this package at the same path, as the images and the models.
    command: `node ${join(PACKAGE_ROOT, 'dist/worker.js')}`,
    env: environmentOf(config, settingsFor('ray')),
    tokenFile: config.rayTokenFile,
    version,
    connected,
    logger,
  });
}

function serviceUrl({ serviceUrl: given, host, port }: Config): string {
  if (given !== '') return given;
  if (port === 0 || host === '0.0.0.0' || host === '::') {
    const name = environmentName('serviceUrl');
    throw new ConfigError(`Set ${name} to ws://HOST:PORT at which workers reach this service.`);
  }
  return `ws://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function whyNoWorker(
  what: string,
  config: Config,
  status: RayCluster | null,
  workers: RayWorkers | null,
): string {
  if (status === null) return 'The service is starting.';
  const fault = status.fault();
  if (fault !== null) return `${fault.message} ${what[0]?.toUpperCase() ?? ''}${what.slice(1)}.`;
  if (workers === null)
    return `The cluster is there, but ${what}: run python -m lattice_ray up on it.`;
  return (
    workers.failure ??
    `The cluster is there, but ${what}. Workers connect to ${serviceUrl(config)}.`
  );
}
