/** The port through which the service reports the machines that run its images. */
import { z } from 'zod';

/** `total` and `available`: the CPUs and GPUs. */
export const CLUSTER_QUESTIONS = ['nodes', 'total', 'available'] as const;

export const clusterNodeSchema = z.object({
  nodeId: z.string(),
  alive: z.boolean(),
  /** Resource name -> amount, for example `{ CPU: 8, GPU: 1 }`. */
  resources: z.record(z.string(), z.number()),
});

export const clusterSnapshotSchema = z.object({
  clusterVersion: z.string(),
  clusterAlive: z.boolean(),
  nodes: z.array(clusterNodeSchema),
  totalCpus: z.number(),
  totalGpus: z.number(),
  availableCpus: z.number(),
  availableGpus: z.number(),
  pendingJobs: z.int(),
  runningJobs: z.int(),
  /** Questions that the cluster has not answered for more than 5 s; the figures are those of its last answers. */
  unanswered: z.array(
    z.object({ question: z.enum(CLUSTER_QUESTIONS), ageSeconds: z.number().nullable() }),
  ),
});

export type ClusterNode = z.infer<typeof clusterNodeSchema>;
export interface ClusterSnapshot extends z.infer<typeof clusterSnapshotSchema> {
  /** Version of the Python that the cluster runs on; absent or null where there is none or it is unknown. */
  pythonVersion?: string | null;
  /** Ray namespace of the workers; absent where there is none. */
  namespace?: string;
}

export interface ClusterStatusSource {
  /** Whether the cluster has told its state of late; asks nobody, so that a liveness probe may call it. */
  connected(): boolean;
  /** The newest state that the cluster has told. Rejects with `cluster_unavailable`, or as `JobCounter.counts`. */
  status(): Promise<ClusterSnapshot>;
}
