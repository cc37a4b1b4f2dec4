/** Where images run, as the service sees it. */
import type { Executor } from './executor.js';
import type { JobService } from '../jobs/job.js';
import type { ClusterStatusSource } from './cluster-status.js';
import type { WorkerGate } from './remote/worker-gate.js';

export interface LeftOutWorker {
  workerId: string;
  nodeId: string;
  /** A clause. */
  reason: string;
}

export interface Cluster {
  /** Closing it closes the workers. */
  detector: Executor;
  /** To be called once, when the jobs are open. */
  watch(jobs: Pick<JobService, 'counts'>): ClusterStatusSource;
  /** Workers that will not be started again; absent where somebody else starts them. */
  leftOut?(): LeftOutWorker[];
  /** Where worker processes connect; absent where images run in this process. */
  gate?: WorkerGate;
  /** To be called once, when the service listens at `serviceUrl`. */
  start?(serviceUrl: string): void;
  /** Ends what `watch` began. */
  close?(): Promise<void>;
}
