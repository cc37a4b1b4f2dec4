/** A GPU in `GET /v1/cluster/status`. */
import { z } from '@hono/zod-openapi';
import type { NodeGpu } from '../../execution/worker-stats.js';
import { gpuReadingSchema } from '../../api/gpu-reading.js';

const of = gpuReadingSchema.shape;

export const gpuSchema = z
  .object({
    node_id: z.string(),
    index: of.index.meta({ description: 'As the worker counts its GPUs' }),
    name: of.name,
    uuid: of.uuid,
    bus_id: of.busId,
    numa_node: of.numaNode,
    state: of.state.meta({
      description:
        'lost: it faulted or hangs and gets no image until its worker starts anew; failed_check: a model, whose ' +
        '`reason` in `GET /v1/models` says why, does not run on it',
    }),
    memory_total_bytes: of.memoryTotal.meta({ format: 'double' }),
    memory_used_bytes: of.memoryUsed.meta({ format: 'double' }),
    utilisation_percent: of.utilisation.meta({
      description: 'Time in which a kernel ran, of the last sampling period',
    }),
    temperature_celsius: of.temperature,
    power_watts: of.power,
    power_limit_watts: of.powerLimit,
    sm_clock_mhz: of.smClockMhz,
    uncorrected_memory_errors: of.uncorrectedErrors.meta({
      description: 'Since the driver was loaded',
    }),
    mig: of.mig.meta({
      description: 'True: the figures are those of a GPU of which the worker has a part only',
    }),
    slowed_by: of.slowedBy.meta({ description: 'What holds the clocks down' }),
    sample_age_seconds: of.ageMs.meta({
      description: 'Age of the figures; null before the first',
    }),
    reason: of.reason.meta({
      description: 'Why figures are unknown or old; null when all is well',
    }),
  })
  .openapi('ClusterGpu', { description: 'Null: not known, or this GPU does not tell' });

export function viewGpu(gpu: NodeGpu): z.infer<typeof gpuSchema> {
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
