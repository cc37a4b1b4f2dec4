/** The place where images run, in the view of the service. */
import type { Executor } from '../execution/executor.js';
import type { ClusterStatusSource } from './cluster-status.js';
import type { AbsentWorker } from '../execution/near/absent-workers.js';
import type { WorkerGate } from '../execution/near/worker-gate.js';

/** Unfinished jobs, for the status of the cluster. */
export interface JobCounter {
  counts(): Promise<{ pending: number; running: number }>;
}

export interface Cluster {
  detector: Executor;
  /** Resolves when the models of the start can be used; left out where images run in other processes. */
  loaded?: Promise<void>;
  /** Call it once, when the jobs are open. */
  monitor(jobs: JobCounter): ClusterStatusSource;
  /** Workers that should run images and are not connected; left out where images run in this process. */
  absent?(): AbsentWorker[];
  /** The gate that worker processes connect to; null where images run in this process. */
  gate: WorkerGate | null;
  /** Call it once, when the service listens at `serviceUrl`. */
  start?(serviceUrl: string): void;
  /** Ends the workers and what `monitor` and `start` began; every open promise of `detector` settles. */
  close(): Promise<void>;
}
