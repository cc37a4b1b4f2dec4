/** What the page of the service shows: names and values, rows and cells. */
import { megabytes, yesNo } from './format.js';
import type { ClusterStatus, Model } from '../client/records.js';

type Gpu = ClusterStatus['engine']['gpus'][number];

export type Fact = [name: string, value: string];

export function clusterFacts(status: ClusterStatus): Fact[] {
  const { engine } = status;
  return [
    ['Version', status.cluster_version],
    ['Cluster alive', yesNo(status.cluster_alive)],
    ['CPUs free', `${status.available_cpus} of ${status.total_cpus}`],
    ['GPUs free', `${status.available_gpus} of ${status.total_gpus}`],
    ['Jobs running', String(status.running_jobs)],
    ['Jobs pending', String(status.pending_jobs)],
    ['Device', engine.device],
    ['Precision', engine.precision],
    ['Images per second', engine.images_per_second.toFixed(1)],
    ['Images in flight', String(engine.in_flight)],
    ['Images queued', `${engine.queued_sync} at once, ${engine.queued_async} of jobs`],
    ['Decoded pixels held', megabytes(engine.held_bytes)],
    ['Image folders that hang', String(engine.hanging_folders)],
    ['Reason of device and precision', engine.reason],
  ];
}

export const NODE_HEADINGS = ['Node', 'Alive', 'Resources'];

export function nodeRows({ nodes }: ClusterStatus): string[][] {
  return nodes.map(({ node_id, alive, resources }) => [
    node_id,
    yesNo(alive),
    Object.entries(resources)
      .map(([name, amount]) => `${amount} ${name}`)
      .join(', '),
  ]);
}

export const WORKER_HEADINGS = ['Worker', 'Node', 'State', 'Runs on', 'In hand', 'Completed'];

export function workerRows({ workers }: ClusterStatus): string[][] {
  return workers.map((worker) => [
    worker.worker_id,
    worker.node_id,
    worker.state,
    `${worker.device} ${worker.precision}`,
    String(worker.in_hand),
    String(worker.completed),
  ]);
}

export const GPU_HEADINGS = ['GPU', 'Node', 'State', 'Use', 'Memory', 'Heat', 'Power', 'Note'];

export function gpuRows({ engine }: ClusterStatus): string[][] {
  return engine.gpus.map((gpu) => [
    `${gpu.index}: ${gpu.name}`,
    gpu.node_id,
    gpu.state,
    known(gpu.utilisation_percent, '%'),
    gpuMemory(gpu),
    known(gpu.temperature_celsius, '°C'),
    known(gpu.power_watts, 'W'),
    [...gpu.slowed_by.map((what) => `slowed by ${what}`), gpu.reason ?? []].flat().join('; '),
  ]);
}

function gpuMemory({ memory_used_bytes: used, memory_total_bytes: total }: Gpu): string {
  if (used === null || total === null) return 'not known';
  return `${megabytes(used)} of ${megabytes(total)}`;
}

function known(value: number | null, unit: string): string {
  return value === null ? 'not known' : `${Math.round(value)} ${unit}`;
}

export const MODEL_HEADINGS = ['Model', 'State', 'Runs on', 'Input', 'Memory', 'Classes', 'Note'];

export function modelRows(models: readonly Model[]): string[][] {
  return models.map((model) => [
    model.is_default ? `${model.name} (default)` : model.name,
    model.state,
    [model.device, model.precision].filter((part) => part !== null).join(' '),
    model.input === null ? '' : `${model.input.width} × ${model.input.height}`,
    model.memory_bytes === null ? '' : megabytes(model.memory_bytes),
    model.classes.join(', '),
    [model.reason, model.licence].filter((part) => part !== null).join('; '),
  ]);
}
