/** `GET /v1/cluster/status`: the machines, and what runs the network on them. */
import { z } from '@hono/zod-openapi';
import type { LeftOutWorker } from '../../clusters/cluster.js';
import type { ClusterSnapshot } from '../../clusters/cluster-status.js';
import { gpusOf, stateOf, type NodeGpu, type WorkerReport } from '../../execution/worker-stats.js';
import { LatticeError } from '../../api/errors.js';
import { gpuReadingSchema } from '../../api/gpu-reading.js';
import { statusStatisticsSchema, type DetectorStats } from '../../api/statistics.js';
import type { AppDeps } from '../app-deps.js';
import { snakeCase } from '../../api/snake-case.js';
import { replyJson } from '../answer/reply.js';
import { json, type AddRoute } from '../route.js';

const nodeSchema = z
  .object({
    node_id: z.string(),
    alive: z.boolean(),
    resources: z.record(z.string(), z.number()),
  })
  .openapi('ClusterNode', {
    example: { node_id: 'host-1', alive: true, resources: { CPU: 8, GPU: 1 } },
  });

const workerSchema = z
  .object({
    worker_id: z.string(),
    node_id: z.string(),
    state: z.enum(['ready', 'leaving', 'unhealthy', 'failed']).openapi({
      description: 'failed: its process ended at its start again and again; it is left out',
    }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why it is unhealthy or failed; null when it is neither' }),
    device: z.string(),
    precision: z.string(),
    in_hand: z.int(),
    completed: z.int(),
  })
  .openapi('ClusterWorker');

const reading = gpuReadingSchema.shape;

const gpuSchema = z
  .object({
    node_id: z.string(),
    index: reading.index.meta({ description: 'As the worker counts its GPUs' }),
    name: reading.name,
    uuid: reading.uuid,
    bus_id: reading.busId,
    numa_node: reading.numaNode,
    state: reading.state.meta({
      description:
        'lost: it faulted or hangs and gets no image until its worker starts anew; failed_check: a model, whose ' +
        '`reason` in `GET /v1/models` says why, does not run on it',
    }),
    memory_total_bytes: reading.memoryTotal.meta({ format: 'double' }),
    memory_used_bytes: reading.memoryUsed.meta({ format: 'double' }),
    utilisation_percent: reading.utilisation.meta({
      description: 'Time in which a kernel ran, of the last sampling period',
    }),
    temperature_celsius: reading.temperature,
    power_watts: reading.power,
    power_limit_watts: reading.powerLimit,
    sm_clock_mhz: reading.smClockMhz,
    uncorrected_memory_errors: reading.uncorrectedErrors.meta({
      description: 'Since the driver was loaded',
    }),
    mig: reading.mig.meta({
      description: 'True: the figures are those of a GPU of which the worker has a part only',
    }),
    slowed_by: reading.slowedBy.meta({ description: 'What holds the clocks down' }),
    sample_age_seconds: reading.ageMs.meta({
      description: 'Age of the figures; null before the first',
    }),
    reason: reading.reason.meta({
      description: 'Why figures are unknown or old; null when all is well',
    }),
  })
  .openapi('ClusterGpu', { description: 'Null: not known, or this GPU does not tell' });

const engine = snakeCase(statusStatisticsSchema);

const clusterStatusSchema = z
  .object({
    cluster_version: z.string(),
    cluster_alive: z.boolean(),
    nodes: z.array(nodeSchema),
    total_cpus: z.number(),
    total_gpus: z.number(),
    available_cpus: z.number(),
    available_gpus: z.number(),
    pending_jobs: z.int(),
    running_jobs: z.int(),
    engine: z
      .object({
        ...engine.shape,
        gpus: z.array(gpuSchema).openapi({
          description: 'The GPUs that run the network; empty on the CPU, see `reason`',
        }),
      })
      .openapi('ClusterEngine', { description: 'All workers as one; counts are in images' }),
    workers: z
      .array(workerSchema)
      .openapi({ description: 'Each worker that is connected or failed; counts are in images' }),
  })
  .openapi('ClusterStatus');

export type ClusterStatusBody = z.infer<typeof clusterStatusSchema>;

export function clusterRoutes(
  route: AddRoute,
  { cluster, detector, workers, leftOutWorkers, logger }: AppDeps,
): void {
  route(
    {
      method: 'get',
      path: '/v1/cluster/status',
      operationId: 'getClusterStatus',
      summary: 'Resources of the compute cluster',
      description:
        'The nodes with their CPUs and GPUs, the workers with what each has in hand, the device and precision of the model, ' +
        'and the jobs that wait and run. Without an external cluster the machine of the service is the only node.',
      tags: ['Cluster'],
      answers: {
        200: {
          ...json('The cluster as it is now', clusterStatusSchema),
          headers: z.object({
            'x-lattice-cluster-python': z.string().optional().openapi({
              description:
                'Version of the Python that the cluster runs on, when known; a client in Python needs the same minor',
              example: '3.11.7',
            }),
          }),
        },
      },
      errors: ['cluster_unavailable'],
    },
    async (c) => {
      try {
        const snapshot = await cluster.status();
        const body = view(snapshot, detector.stats(), workers());
        body.workers.push(...leftOutWorkers().map(viewLeftOut));
        return replyJson(c, 200, body, pythonHeader(snapshot));
      } catch (thrown) {
        if (thrown instanceof LatticeError) throw thrown;
        logger.warn({ err: thrown }, 'cluster status failed');
        throw new LatticeError('cluster_unavailable', 'The cluster gave no status.', {
          cause: thrown,
        });
      }
    },
  );
}

/** A header, so that the body keeps the fields of the interface. */
function pythonHeader({ pythonVersion }: ClusterSnapshot): Record<string, string> {
  return typeof pythonVersion === 'string' ? { 'x-lattice-cluster-python': pythonVersion } : {};
}

function view(
  snapshot: ClusterSnapshot,
  stats: DetectorStats,
  workers: readonly WorkerReport[],
): ClusterStatusBody {
  return {
    cluster_version: snapshot.clusterVersion,
    cluster_alive: snapshot.clusterAlive,
    nodes: snapshot.nodes.map(({ nodeId, alive, resources }) => ({
      node_id: nodeId,
      alive,
      resources,
    })),
    total_cpus: snapshot.totalCpus,
    total_gpus: snapshot.totalGpus,
    available_cpus: snapshot.availableCpus,
    available_gpus: snapshot.availableGpus,
    pending_jobs: snapshot.pendingJobs,
    running_jobs: snapshot.runningJobs,
    engine: { ...engine.view(stats), gpus: gpusOf(workers).map(viewGpu) },
    workers: workers.map(({ worker, inHand, completed }) => {
      const { device, precision } = worker.stats();
      return {
        worker_id: worker.workerId,
        node_id: worker.nodeId,
        state: stateOf(worker),
        reason: worker.unhealthy()?.message ?? null,
        device,
        precision,
        in_hand: inHand,
        completed,
      };
    }),
  };
}

function viewLeftOut({ workerId, nodeId, reason }: LeftOutWorker): ClusterStatusBody['workers'][0] {
  return {
    worker_id: workerId,
    node_id: nodeId,
    state: 'failed',
    reason,
    device: 'none',
    precision: 'none',
    in_hand: 0,
    completed: 0,
  };
}

function viewGpu(gpu: NodeGpu): z.infer<typeof gpuSchema> {
  return {
    node_id: gpu.nodeId,
    index: gpu.index,
    name: gpu.name,
    uuid: gpu.uuid,
    bus_id: gpu.busId,
    numa_node: gpu.numaNode,
    state: gpu.state,
    memory_total_bytes: gpu.memoryTotal,
    memory_used_bytes: gpu.memoryUsed,
    utilisation_percent: gpu.utilisation,
    temperature_celsius: gpu.temperature,
    power_watts: gpu.power,
    power_limit_watts: gpu.powerLimit,
    sm_clock_mhz: gpu.smClockMhz,
    uncorrected_memory_errors: gpu.uncorrectedErrors,
    mig: gpu.mig,
    slowed_by: gpu.slowedBy,
    sample_age_seconds: gpu.ageMs === null ? null : Math.round(gpu.ageMs) / 1e3,
    reason: gpu.reason,
  };
}
