/** `GET /v1/cluster/status`: the machines, and what runs the network on them. */
import { z } from '@hono/zod-openapi';
import {
  clusterNodeSchema,
  clusterSnapshotSchema,
  type ClusterSnapshot,
} from '../../clusters/cluster-status.js';
import type { AbsentWorker } from '../../execution/near/absent-workers.js';
import { modelFaults, type ModelDigests } from '../../execution/worker-models.js';
import { gpusOf, stateOf, type WorkerReport } from '../../execution/worker-stats.js';
import { rounded } from '../../base/rounded.js';
import { LatticeError } from '../../api/errors.js';
import { nodeGpuSchema, type NodeGpu } from '../../api/schemas/gpu-reading.js';
import { serviceStateWire, type ServiceState } from '../../api/schemas/service-state.js';
import {
  imageFigures,
  imageFiguresSchema,
  statusStatisticsSchema,
  type DetectorStats,
  type ImageFigures,
} from '../../api/schemas/statistics.js';
import type { AppDeps } from '../app-deps.js';
import { snakeCase } from '../../api/snake-case.js';
import { replyJson } from '../answer/reply.js';
import { json, type AddRoute } from '../route.js';

const node = snakeCase(clusterNodeSchema);

const nodeSchema = z.object(node.shape).openapi('ClusterNode', {
  example: { node_id: 'host-1', alive: true, resources: { CPU: 8, GPU: 1 } },
});

const workerSchema = z
  .object({
    worker_id: z.string(),
    node_id: z.string(),
    state: z.enum(['ready', 'leaving', 'unhealthy', 'failed', 'lost', 'refused']).openapi({
      description:
        'failed: its process ended at its start again and again; it is left out. lost: its connection ended without notice; listed until it is back, an hour at most. refused: it has another worker token or version; listed until it joins or for a minute',
    }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why it runs no images; null when it is ready or leaving' }),
    device: z.string(),
    precision: z.string(),
    in_hand: z.int(),
    completed: z.int(),
    models: z
      .array(z.object({ name: z.string(), digest: z.string() }))
      .openapi({ description: 'Model files of its node; empty where that is the service itself' }),
    model_faults: z.array(z.string()).openapi({
      description:
        'Models of the service that its node lacks or has in another file; their images go to other workers',
    }),
  })
  .openapi('ClusterWorker');

const gpu = snakeCase(nodeGpuSchema);

const gpuSchema = z
  .object(gpu.shape)
  .openapi('ClusterGpu', { description: 'Null: not known, or this GPU does not tell' });

const snapshot = snakeCase(clusterSnapshotSchema);
const unanswered = snakeCase(clusterSnapshotSchema.shape.unanswered.element);
const unansweredSchema = z.object(unanswered.shape).openapi('ClusterUnanswered');
const engine = snakeCase(statusStatisticsSchema);
const images = snakeCase(imageFiguresSchema);
const imagesSchema = z.object(images.shape).openapi('ClusterImages', {
  description: 'Images that wait, that workers have in hand, and that are done',
});
const serviceSchema = z.object(serviceStateWire.shape).openapi('ServiceState', {
  description: 'Whether the service keeps up, and why not',
});

const clusterStatusSchema = z
  .object({
    ...snapshot.shape,
    nodes: z.array(nodeSchema),
    unanswered: z.array(unansweredSchema).openapi({
      description:
        'Questions that an external cluster has not answered for more than 5 s, with the age of the answer that is shown; null: none yet. Without `nodes` for 60 s the answer is 503',
    }),
    engine: z
      .object({
        ...engine.shape,
        gpus: z.array(gpuSchema).openapi({
          description: 'The GPUs that run the network; empty on the CPU, see `reason`',
        }),
      })
      .openapi('ClusterEngine', { description: 'All workers as one; counts are in images' }),
    images: imagesSchema,
    service: serviceSchema,
    workers: z.array(workerSchema).openapi({
      description: 'Each worker that is connected, failed, lost or refused; counts are in images',
    }),
  })
  .openapi('ClusterStatus');

export type ClusterStatusBody = z.infer<typeof clusterStatusSchema>;

export function clusterRoutes(
  route: AddRoute,
  { cluster, clusterStatus, detector, jobs, serviceState, logger }: AppDeps,
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
            'x-lattice-cluster-namespace': z.string().optional().openapi({
              description: 'Ray namespace of the workers',
              example: 'lattice',
            }),
          }),
        },
      },
      errors: ['cluster_unavailable'],
    },
    async (c) => {
      try {
        const status = await clusterStatus.status();
        const stats = detector.stats();
        const figures = imageFigures(stats, (await jobs.counts()).queuedImages);
        const state = serviceState(figures.waiting);
        const { detector: executor, absent = () => [] } = cluster;
        const told = { status, stats, figures, state };
        const body = toWire(told, executor.workers(), executor.modelDigests());
        body.workers.push(...absent().map(toWireAbsent));
        return replyJson(c, 200, body, rayHeaders(status));
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

/** Headers, so that the body keeps the fields of the interface. */
function rayHeaders({ pythonVersion, namespace }: ClusterSnapshot): Record<string, string> {
  return {
    ...(typeof pythonVersion === 'string' && { 'x-lattice-cluster-python': pythonVersion }),
    ...(namespace !== undefined && { 'x-lattice-cluster-namespace': namespace }),
  };
}

interface Told {
  status: ClusterSnapshot;
  stats: DetectorStats;
  figures: ImageFigures;
  state: ServiceState;
}

function toWire(
  { status, stats, figures, state }: Told,
  workers: readonly WorkerReport[],
  digests: ModelDigests,
): ClusterStatusBody {
  return {
    ...snapshot.toWire(status),
    nodes: status.nodes.map(node.toWire),
    unanswered: status.unanswered.map(unanswered.toWire),
    engine: { ...engine.toWire(stats), gpus: gpusOf(workers).map(toWireGpu) },
    images: images.toWire(figures),
    service: serviceStateWire.toWire(state),
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
        models: Object.entries(worker.modelDigests ?? {}).map(([name, digest]) => ({
          name,
          digest,
        })),
        model_faults: modelFaults(worker.modelDigests, digests),
      };
    }),
  };
}

function toWireAbsent(worker: AbsentWorker): ClusterStatusBody['workers'][0] {
  const { workerId, nodeId, state, reason } = worker;
  return {
    worker_id: workerId,
    node_id: nodeId,
    state,
    reason,
    device: 'none',
    precision: 'none',
    in_hand: 0,
    completed: 0,
    models: [],
    model_faults: [],
  };
}

/** The reading as the answer has it, with its age rounded to milliseconds. */
function toWireGpu(reading: NodeGpu): z.infer<typeof gpuSchema> {
  const body = gpu.toWire(reading);
  const age = body.sample_age_seconds;
  return { ...body, sample_age_seconds: age === null ? null : rounded(age, 3) };
}
