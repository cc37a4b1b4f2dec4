/** A GPU in `GET /v1/cluster/status`. */
import { z } from '@hono/zod-openapi';
import type { NodeGpu } from '../../execution/lane-gpus.js';
import { DEVICE_STATES, SLOWDOWNS } from '../../execution/gpu-readings.js';

export const gpuSchema = z
  .object({
    node_id: z.string(),
    index: z.int().openapi({ description: 'As the worker counts its GPUs' }),
    name: z.string(),
    uuid: z.string(),
    bus_id: z.string(),
    numa_node: z.int().nullable(),
    state: z.enum(DEVICE_STATES).openapi({
      description:
        'lost: it faulted or hangs and gets no image until its worker starts anew; failed_check: a model, whose ' +
        '`reason` in `GET /v1/models` says why, does not run on it',
    }),
    memory_total_bytes: z.number().nullable().openapi({ format: 'double' }),
    memory_used_bytes: z.number().nullable().openapi({ format: 'double' }),
    utilisation_percent: z
      .number()
      .nullable()
      .openapi({ description: 'Time in which a kernel ran, of the last sampling period' }),
    temperature_celsius: z.number().nullable(),
    power_watts: z.number().nullable(),
    power_limit_watts: z.number().nullable(),
    sm_clock_mhz: z.number().nullable(),
    uncorrected_memory_errors: z
      .number()
      .nullable()
      .openapi({ description: 'Since the driver was loaded' }),
    mig: z.boolean().nullable().openapi({
      description: 'True: the figures are those of a GPU of which the worker has a part only',
    }),
    slowed_by: z.array(z.enum(SLOWDOWNS)).openapi({ description: 'What holds the clocks down' }),
    sample_age_seconds: z.number().nullable().openapi({
      description: 'Age of the figures; null before the first',
    }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why figures are unknown or old; null when all is well' }),
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
