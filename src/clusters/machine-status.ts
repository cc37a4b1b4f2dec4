/** The status of a cluster whose only node is this machine. */
import { availableParallelism, hostname } from 'node:os';
import type { Detector } from '../execution/detector.js';
import type { JobCounter } from './cluster.js';
import type { ClusterSnapshot, ClusterStatusSource } from './cluster-status.js';

export interface MachineStatusOptions {
  detector: Pick<Detector, 'stats'>;
  jobs: JobCounter;
  version: string;
  /** CPU threads of all workers of this machine; they count as busy while any image is in hand. */
  threads: number;
}

export class MachineStatus implements ClusterStatusSource {
  readonly #options: MachineStatusOptions;
  readonly #nodeId = hostname();
  readonly #cpus = availableParallelism();

  constructor(options: MachineStatusOptions) {
    this.#options = options;
  }

  connected(): boolean {
    return true;
  }

  async status(): Promise<ClusterSnapshot> {
    const { gpus, gpuReadings = [], inFlight } = this.#options.detector.stats();
    const { pending, running } = await this.#options.jobs.counts();
    const busy = inFlight > 0;
    const lostGpus = gpuReadings.filter(({ state }) => state === 'lost').length;
    const busyCpus = busy && gpus === 0 ? Math.min(this.#options.threads, this.#cpus) : 0;
    return {
      clusterVersion: this.#options.version,
      clusterAlive: true,
      nodes: [{ nodeId: this.#nodeId, alive: true, resources: { CPU: this.#cpus, GPU: gpus } }],
      totalCpus: this.#cpus,
      totalGpus: gpus,
      availableCpus: this.#cpus - busyCpus,
      availableGpus: busy ? 0 : gpus - lostGpus,
      pendingJobs: pending,
      runningJobs: running,
      unanswered: [],
    };
  }
}
