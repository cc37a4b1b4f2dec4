/** The port through which the service reports the machines that run its images. */

export interface ClusterNode {
  nodeId: string;
  alive: boolean;
  /** Resource name -> amount, for example `{ CPU: 8, GPU: 1 }`. */
  resources: Record<string, number>;
}

export interface ClusterSnapshot {
  clusterVersion: string;
  clusterAlive: boolean;
  nodes: ClusterNode[];
  totalCpus: number;
  totalGpus: number;
  availableCpus: number;
  availableGpus: number;
  pendingJobs: number;
  runningJobs: number;
  /** Version of the Python that the cluster runs on; absent or null where there is none or it is unknown. */
  pythonVersion?: string | null;
}

export interface ClusterStatusSource {
  /** What is known at this moment, without a request to the cluster: cheap enough for a liveness probe. */
  connected(): boolean;
  /** Asks the cluster itself. Rejects with `cluster_unavailable`; never invents figures. */
  status(): Promise<ClusterSnapshot>;
}
