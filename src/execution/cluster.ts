/** Where images run, as the service sees it. */
import type { Executor, WorkerReport } from './executor.js';
import type { JobService } from '../jobs/job.js';
import type { ClusterStatusSource } from './cluster-status.js';
import type { WorkerGate } from './remote/worker-gate.js';

/** What happened to workers and their images since the start. */
export interface WorkerEvents {
  /** Workers that went with images in hand, or without a word. */
  lost: number;
  /** Images handed out again because their worker was lost. */
  requeued: number;
  /** Answers to a hand-out that was over: refused. */
  stale: number;
}

export interface Cluster {
  /** Closing it closes the workers. */
  detector: Executor;
  /** To be called once, when the jobs are open. */
  watch(jobs: Pick<JobService, 'counts'>): ClusterStatusSource;
  workers(): WorkerReport[];
  events(): WorkerEvents;
  /** Where worker processes come in; left out where images run in this process. */
  gate?: WorkerGate;
  /** Ends what `watch` began. */
  close(): Promise<void>;
}
