/** The cluster of one: this process is the worker, its machine the only node. */
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../base/logger-port.js';
import type { Detector } from '../../execution/detector.js';
import { Executor } from '../../execution/executor.js';
import { openDetector, type OpenDetectorOptions } from '../../execution/here/open-detector.js';
import type { Config } from '../../settings/config.js';
import type { Cluster, JobCounter } from '../cluster.js';
import type { ClusterSnapshot, ClusterStatusSource } from '../cluster-status.js';

export type EmbeddedOptions = Pick<OpenDetectorOptions, 'abortOnPathSuffix' | 'onGpuLost'>;

/** Rejects as `openDetector`. */
export async function openLocalCluster(
  config: Config,
  version: string,
  logger: Logger,
  options: EmbeddedOptions,
): Promise<Cluster> {
  const worker = await openDetector(config, logger, {
    ...options,
    preload: config.preload,
    crashMarkerPath: join(config.dataDir, 'crash.marker'),
  });
  const { threads, syncQueue } = config;
  const executor = new Executor({
    whyNoWorker: () => 'The service is starting.',
    files: worker,
    syncQueue,
  });
  executor.join(worker);
  return {
    detector: executor,
    gate: null,
    watch: (jobs) => new LocalCluster({ detector: executor, jobs, version, threads }),
    close: () => executor.close(),
  };
}

export interface LocalClusterOptions {
  detector: Pick<Detector, 'stats'>;
  jobs: JobCounter;
  version: string;
  /** CPU threads that an image in hand occupies. */
  threads: number;
}

/** The status of a cluster whose only node is this machine. */
export class LocalCluster implements ClusterStatusSource {
  readonly #options: LocalClusterOptions;
  readonly #nodeId = hostname();
  readonly #cpus = availableParallelism();

  constructor(options: LocalClusterOptions) {
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
    };
  }
}
