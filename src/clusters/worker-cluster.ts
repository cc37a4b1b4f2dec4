/** A cluster whose images run in worker processes, with the executor and the gate that every such cluster has. */
import type { Logger } from '../base/logger-port.js';
import { Executor } from '../execution/executor.js';
import { openFileAccess } from '../execution/here/file-access.js';
import type { AbsentWorker } from '../execution/near/absent-workers.js';
import { WorkerGate, type WorkerGateParts } from '../execution/near/worker-gate.js';
import type { Config } from '../settings/config.js';
import type { Cluster, JobCounter } from './cluster.js';
import type { ClusterStatusSource } from './cluster-status.js';

/** The differences between such clusters: how workers are started, and where the state of the machines comes from. */
export interface WorkerSupply extends Pick<Cluster, 'start'> {
  /** The token that workers must present, the times of the connection, and who is told of a worker. */
  gate: Pick<WorkerGateParts, 'token' | 'beatMs' | 'silenceMs' | 'onJoined' | 'onLost'>;
  /** Sentences for the answer while there is no worker. `what` says so of the workers, as a clause. */
  whyNoWorker(what: string): string;
  /** Workers that are not started again; absent if the service does not start them. */
  failed?(): AbsentWorker[];
  monitor(executor: Executor, jobs: JobCounter): ClusterStatusSource;
  /** Ends what `monitor` and `start` began. The connections of the workers are closed before. */
  close(): Promise<void>;
}

/** Rejects as `openFileAccess`. */
export async function openWorkerCluster(
  config: Config,
  version: string,
  logger: Logger,
  supply: WorkerSupply,
): Promise<Cluster> {
  const files = await openFileAccess(config);
  const executor: Executor = new Executor({
    whyNoWorker: () =>
      `${supply.whyNoWorker(absence(executor, gate))} ${gate.refusal ?? ''}`.trimEnd(),
    files,
    modelDigests: files.modelDigests,
    syncQueue: config.syncQueue,
  });
  const gate: WorkerGate = new WorkerGate({
    ...supply.gate,
    build: version,
    roots: config.imageRoots,
    executor,
    logger,
  });
  return {
    detector: executor,
    gate,
    monitor: (jobs) => supply.monitor(executor, jobs),
    absent: () => absentWorkers(gate, supply.failed?.() ?? []),
    ...(supply.start && { start: supply.start }),
    close: async () => {
      await executor.close();
      gate.close();
      await supply.close();
      await files.close();
    },
  };
}

/** A clause on the workers while none is connected. */
function absence(executor: Executor, gate: WorkerGate): string {
  if (!executor.hadWorkers) return 'no worker has joined yet';
  const lost = gate.absent().filter(({ state }) => state === 'lost');
  if (lost.length === 0) return 'all workers have left';
  return `all workers were lost (${lost.map(({ workerId }) => workerId).join(', ')})`;
}

function absentWorkers(gate: WorkerGate, failed: readonly AbsentWorker[]): AbsentWorker[] {
  const known = new Set(failed.map(({ workerId }) => workerId));
  return [...failed, ...gate.absent().filter(({ workerId }) => !known.has(workerId))];
}
