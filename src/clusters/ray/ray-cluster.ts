/** The status of a Ray cluster, as its head reports it. */
import { LatticeError } from '../../api/errors.js';
import type { JobCounter } from '../cluster.js';
import type { ClusterSnapshot, ClusterStatusSource } from '../cluster-status.js';
import type { RaySnapshot, Resources } from './ray-snapshot.js';
import { RayWatch, type RayWatchOptions } from './ray-watch.js';

/** An older snapshot of a cluster is not reported as its status. */
const FRESH_MS = 5_000;

export interface RayClusterOptions extends RayWatchOptions {
  jobs: JobCounter;
}

export class RayCluster implements ClusterStatusSource {
  readonly #jobs: RayClusterOptions['jobs'];
  readonly #address: string;
  readonly #namespace: string;
  readonly #watch: RayWatch;

  /** Starts connecting at once, in the background. */
  constructor(options: RayClusterOptions) {
    const { jobs, ...watched } = options;
    this.#address = options.address.text;
    this.#namespace = options.namespace;
    this.#jobs = jobs;
    this.#watch = new RayWatch(watched);
  }

  connected(): boolean {
    return this.#freshSnapshot() !== null;
  }

  /** Answers from the newest snapshot and waits for nothing but the job store. */
  async status(): Promise<ClusterSnapshot> {
    const snapshot = this.#freshSnapshot();
    if (snapshot === null) throw this.#unavailable();
    const { nodes, total, available } = snapshot;
    const { pending, running } = await this.#jobs.counts();
    return {
      clusterVersion: this.#watch.rayVersion ?? 'unknown',
      clusterAlive: nodes.some(({ alive }) => alive),
      nodes: nodes.map((node) => ({ ...node, resources: { CPU: 0, GPU: 0, ...node.resources } })),
      totalCpus: amount(total, 'CPU'),
      totalGpus: amount(total, 'GPU'),
      availableCpus: amount(available, 'CPU'),
      availableGpus: amount(available, 'GPU'),
      pendingJobs: pending,
      runningJobs: running,
      pythonVersion: this.#watch.pythonVersion,
      namespace: this.#namespace,
    };
  }

  /** Why there is no status at present; null when there is one. */
  fault(): LatticeError | null {
    return this.connected() ? null : this.#unavailable();
  }

  /** Ends the session with the head. Never rejects. */
  close(): Promise<void> {
    return this.#watch.close();
  }

  #freshSnapshot(): RaySnapshot | null {
    const { snapshot } = this.#watch;
    return snapshot !== null && performance.now() - snapshot.takenAt < FRESH_MS ? snapshot : null;
  }

  #unavailable(): LatticeError {
    const { rayVersion, reason } = this.#watch;
    const known = rayVersion === null ? '' : ` It last ran Ray ${rayVersion}.`;
    const detail = `The Ray cluster at ${this.#address} gives no status: ${reason}.${known}`;
    return new LatticeError('cluster_unavailable', detail);
  }
}

/** Ray leaves out a resource of which there is none. */
function amount(resources: Resources, name: string): number {
  return resources[name] ?? 0;
}
