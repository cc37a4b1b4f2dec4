/** The GPUs of all lanes. */
import type { GpuReading } from '../contract/gpu-reading.js';
import { worse } from './gpu-readings.js';
import type { Lane } from './lane.js';

export interface NodeGpu extends GpuReading {
  /** The machine, as the cluster names it. */
  nodeId: string;
}

/** Each GPU once, though workers may share it: as the one saw it that looked last, in the worst of its states. */
export function gpusOf(lanes: readonly { lane: Lane }[]): NodeGpu[] {
  const gpus = new Map<string, NodeGpu>();
  for (const { lane } of lanes) {
    const { nodeId } = lane;
    for (const reading of lane.stats().gpuReadings ?? []) {
      const key = JSON.stringify([nodeId, reading.uuid]);
      const known = gpus.get(key);
      const state = worse(reading.state, known?.state ?? 'ok');
      const latest = known === undefined || ageOf(reading) < ageOf(known) ? reading : known;
      gpus.set(key, { ...latest, state, nodeId });
    }
  }
  return [...gpus.values()];
}

const ageOf = ({ ageMs }: GpuReading) => ageMs ?? Infinity;
