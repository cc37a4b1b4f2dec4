/** Several workers described as one, and what each is good for. */
import { addUp, type WorkerStats } from '../api/schemas/statistics.js';
import {
  GPU_STATES,
  type GpuReading,
  type GpuState,
  type NodeGpu,
} from '../api/schemas/gpu-reading.js';
import type { ModelDescription } from '../api/schemas/model.js';
import type { Worker } from './worker.js';

export function describeWorkers(workers: readonly Worker[]): WorkerStats {
  const stats = workers.map((worker) => worker.stats());
  const [only] = stats;
  if (only !== undefined && stats.length === 1) return only;
  const all = addUp(stats);
  return { ...all, reason: count(workers), suggestedWindow: Math.max(1, all.suggestedWindow) };
}

function count(workers: readonly Worker[]): string {
  if (workers.length === 0) return 'no worker';
  const nodes = new Set(workers.map(({ nodeId }) => nodeId)).size;
  return `${workers.length} workers on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
}

export interface WorkerReport {
  worker: Worker;
  inHand: number;
  completed: number;
}

export type WorkerState = 'ready' | 'leaving' | 'unhealthy';

export function stateOf(worker: Worker): WorkerState {
  if (worker.leaving) return 'leaving';
  return worker.unhealthy() === null ? 'ready' : 'unhealthy';
}

export function countByState(reports: readonly { worker: Worker }[]): Record<WorkerState, number> {
  const counts = { ready: 0, leaving: 0, unhealthy: 0 };
  for (const { worker } of reports) counts[stateOf(worker)] += 1;
  return counts;
}

/** Each GPU once, though workers may share it: the latest reading, with the worst of the states. */
export function gpusOf(reports: readonly { worker: Worker }[]): NodeGpu[] {
  const gpus = new Map<string, NodeGpu>();
  for (const { worker } of reports) {
    const { nodeId } = worker;
    for (const reading of worker.stats().gpuReadings ?? []) {
      const key = JSON.stringify([nodeId, reading.uuid]);
      const known = gpus.get(key);
      const state = worse(reading.state, known?.state ?? 'ok');
      const latest = known === undefined || ageOf(reading) < ageOf(known) ? reading : known;
      gpus.set(key, { ...latest, state, nodeId });
    }
  }
  return [...gpus.values()];
}

const ageOf = ({ sampleAgeSeconds }: GpuReading) => sampleAgeSeconds ?? Infinity;
const worse = (one: GpuState, other: GpuState) =>
  GPU_STATES.indexOf(one) > GPU_STATES.indexOf(other) ? one : other;

const RANK = { ready: 2, available: 1, refused: 0 } as const;

/**
 * Lists each model once, in the order of the first worker that has it. It takes the description of the worker in the
 * best state; among equals, one that gives a reason why it could not load a replaced file. Null when no worker answers.
 */
export async function modelsOf(workers: readonly Worker[]): Promise<ModelDescription[] | null> {
  const answers = await Promise.allSettled(workers.map((worker) => worker.models()));
  const offers = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  if (offers.length === 0) return null;
  const byName = new Map<string, ModelDescription>();
  for (const model of offers.flat()) {
    const known = byName.get(model.name);
    if (known === undefined || saysMore(model, known)) byName.set(model.name, model);
  }
  return [...byName.values()];
}

function saysMore(model: ModelDescription, known: ModelDescription): boolean {
  if (model.state !== known.state) return RANK[model.state] > RANK[known.state];
  return known.reason === null && model.reason !== null;
}
