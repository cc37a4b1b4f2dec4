/** The status of a Ray cluster, as its head reports it. */
import { LatticeError } from '../../api/errors.js';
import type { JobCounter } from '../cluster.js';
import {
  CLUSTER_QUESTIONS,
  type ClusterSnapshot,
  type ClusterStatusSource,
} from '../cluster-status.js';
import type { Resources, Told } from './ray-snapshot.js';
import { PATIENCE_MS, RayMonitor, type RayMonitorOptions } from './ray-monitor.js';

/** An older answer is said to be one. */
const FRESH_MS = 5_000;

export interface RayClusterOptions extends RayMonitorOptions {
  jobs: JobCounter;
}

export class RayCluster implements ClusterStatusSource {
  readonly #jobs: RayClusterOptions['jobs'];
  readonly #address: string;
  readonly #namespace: string;
  readonly #monitor: RayMonitor;

  /** Starts connecting at once, in the background. */
  constructor(options: RayClusterOptions) {
    const { jobs, ...watched } = options;
    this.#address = options.address.text;
    this.#namespace = options.namespace;
    this.#jobs = jobs;
    this.#monitor = new RayMonitor(watched);
  }

  connected(): boolean {
    return isFresh(this.#monitor.snapshot.nodes);
  }

  /**
   * Answers from the last reports of the head and waits only for the job store. While the head is slow it answers with
   * the last report, if that is younger than `PATIENCE_MS`.
   */
  async status(): Promise<ClusterSnapshot> {
    const fault = this.fault();
    if (fault !== null) throw fault;
    const { pending, running } = await this.#jobs.counts();
    const { snapshot } = this.#monitor;
    const nodes = snapshot.nodes?.value ?? [];
    const total = snapshot.total?.value ?? {};
    const available = snapshot.available?.value ?? {};
    return {
      clusterVersion: this.#monitor.rayVersion ?? 'unknown',
      clusterAlive: this.connected() && nodes.some(({ alive }) => alive),
      nodes: nodes.map((node) => ({ ...node, resources: { CPU: 0, GPU: 0, ...node.resources } })),
      totalCpus: amount(total, 'CPU'),
      totalGpus: amount(total, 'GPU'),
      availableCpus: amount(available, 'CPU'),
      availableGpus: amount(available, 'GPU'),
      pendingJobs: pending,
      runningJobs: running,
      unanswered: CLUSTER_QUESTIONS.filter((question) => !isFresh(snapshot[question])).map(
        (question) => ({ question, ageSeconds: ageSeconds(snapshot[question]) }),
      ),
      pythonVersion: this.#monitor.pythonVersion,
      namespace: this.#namespace,
    };
  }

  /** Why there is no status at present; null when there is one. */
  fault(): LatticeError | null {
    const { snapshot, hasSession } = this.#monitor;
    const isKnown = this.connected() || (hasSession && age(snapshot.nodes) < PATIENCE_MS);
    return isKnown ? null : this.#unavailable();
  }

  /** Ends the session with the head. Never rejects. */
  close(): Promise<void> {
    return this.#monitor.close();
  }

  #unavailable(): LatticeError {
    const { rayVersion, reason } = this.#monitor;
    const known = rayVersion === null ? '' : ` It last ran Ray ${rayVersion}.`;
    const detail = `The Ray cluster at ${this.#address} gives no status: ${reason}.${known}`;
    return new LatticeError('cluster_unavailable', detail);
  }
}

function age(told: Told<unknown> | null): number {
  return told === null ? Infinity : performance.now() - told.at;
}

const isFresh = (told: Told<unknown> | null) => age(told) < FRESH_MS;

function ageSeconds(told: Told<unknown> | null): number | null {
  return told === null ? null : Math.round(age(told)) / 1_000;
}

/** Ray leaves out a resource of which there is none. */
function amount(resources: Resources, name: string): number {
  return resources[name] ?? 0;
}
