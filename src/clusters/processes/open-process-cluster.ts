/** This machine with several devices: the service starts a worker process per device. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package.js';
import {
  environmentName,
  environmentOf,
  inheritedEnvironment,
  type Config,
} from '../../settings/config.js';
import { settingsFor } from '../../settings/settings.js';
import type { Logger } from '../../base/logger-port.js';
import type { AbsentWorker } from '../../execution/near/absent-workers.js';
import type { Cluster } from '../cluster.js';
import { MachineStatus } from '../machine-status.js';
import { openWorkerCluster } from '../worker-cluster.js';
import type { WorkerDevice } from './worker-devices.js';
import { WorkerProcess } from './worker-process.js';

/** Times for connections within one machine, where silence means a fault sooner than on a network. */
const BEAT_MS = 1_000;
const SILENCE_MS = 6_000;
/** Time that a stop gives a worker. Jobs were drained before, so that the worker runs no image. */
const STOP_GRACE_MS = 5_000;

/** Rejects as `openWorkerCluster`. The workers start with `start`, when the service listens. */
export function openProcessCluster(
  config: Config,
  version: string,
  logger: Logger,
  devices: readonly WorkerDevice[],
): Promise<Cluster> {
  const token = randomBytes(32).toString('hex');
  const threads = Math.max(1, Math.floor(config.threads / devices.length));
  const processes = new Map(
    devices.map((device) => [
      device.workerId,
      new WorkerProcess({
        workerId: device.workerId,
        command: [process.execPath, join(PACKAGE_ROOT, 'dist/worker.js')],
        env: environment(config, device, threads),
        token,
        logger,
      }),
    ]),
  );
  const failed = () =>
    [...processes.values()].flatMap(({ workerId, failure }): AbsentWorker[] =>
      failure === null ? [] : [{ workerId, nodeId: hostname(), state: 'failed', reason: failure }],
    );
  return openWorkerCluster(config, version, logger, {
    gate: {
      token,
      beatMs: BEAT_MS,
      silenceMs: SILENCE_MS,
      onJoined: (workerId) => {
        processes.get(workerId)?.joined();
      },
      onLost: (workerId, reason) => {
        // The worker has ended, hangs, or sends something that is no frame: only SIGKILL is sure to end it.
        processes.get(workerId)?.kill(reason);
      },
    },
    whyNoWorker: (what) =>
      failed()
        .map(({ workerId, reason }) => `${workerId}: ${reason}`.replace(/\.?$/, '.'))
        .join(' ') || `The worker processes are starting: ${what}.`,
    monitor: (detector, jobs) =>
      new MachineStatus({ detector, jobs, version, threads: config.threads }),
    failed,
    start: (serviceUrl) => {
      for (const each of processes.values()) each.start(toWorkerAddress(serviceUrl));
    },
    close: async () => {
      await Promise.all([...processes.values()].map((each) => each.stop(STOP_GRACE_MS)));
    },
  });
}

function environment(
  config: Config,
  device: WorkerDevice,
  threads: number,
): Record<string, string | undefined> {
  return {
    ...inheritedEnvironment(),
    ...environmentOf(config, settingsFor('processes')),
    ...device.env,
    [environmentName('workerId')]: device.workerId,
    [environmentName('nodeId')]: hostname(),
    [environmentName('threads')]: String(threads),
    [environmentName('workerTokenFile')]: '-',
  };
}

/** The address at which a process on this machine reaches a service that listens on all addresses, or on one. */
function toWorkerAddress(serviceUrl: string): string {
  const url = new URL(serviceUrl.replace(/^http/, 'ws'));
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url.origin;
}
