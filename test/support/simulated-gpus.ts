/** Readings that GPUs would give. */
import type { GpuReading } from '../../src/api/schemas/gpu-reading.js';
import type { NativeGpu } from '../../src/native/contract.js';
import { SimulatedWorker } from './simulated-worker.js';

/** As the addon lists it. */
export function usableGpu(index: number, name = 'Simulated GPU'): NativeGpu {
  const ids = { uuid: `GPU-${index}`, busId: `0000:0${index}:00.0`, numaNode: index % 2 };
  return { index, name, ...ids, memoryTotal: 80 * 2 ** 30 };
}

/** All is well and known, and differs from GPU to GPU. */
export function simulatedGpu(index: number, more: Partial<GpuReading> = {}): GpuReading {
  const { memoryTotal, ...ids } = usableGpu(index);
  return {
    ...ids,
    memoryTotalBytes: memoryTotal,
    memoryUsedBytes: (index + 1) * 2 ** 30,
    utilisationPercent: 50 + index,
    temperatureCelsius: 40 + index,
    powerWatts: 300.5,
    powerLimitWatts: 700,
    smClockMhz: 1_980,
    uncorrectedMemoryErrors: 0,
    mig: false,
    slowedBy: [],
    state: 'ok',
    sampleAgeSeconds: 0.4,
    reason: null,
    ...more,
  };
}

export const UNKNOWN_FIGURES = {
  memoryUsedBytes: null,
  utilisationPercent: null,
  temperatureCelsius: null,
  powerWatts: null,
  powerLimitWatts: null,
  smClockMhz: null,
  uncorrectedMemoryErrors: null,
  mig: null,
};

/** As after a driver's last word on it. */
export function lostGpu(index: number): GpuReading {
  const unknown = { ...UNKNOWN_FIGURES, memoryTotalBytes: null };
  const reason = 'The GPU is lost.';
  return simulatedGpu(index, { ...unknown, numaNode: null, state: 'lost', reason });
}

/** A worker that computes on these. */
export class GpuWorker extends SimulatedWorker {
  gpuReadings: readonly GpuReading[];

  constructor(workerId: string, nodeId: string, gpuReadings: readonly GpuReading[]) {
    super(workerId, { nodeId });
    this.gpuReadings = gpuReadings;
  }

  override stats() {
    return { ...super.stats(), gpuReadings: this.gpuReadings };
  }
}

/** As an executor reports them. */
export const reportOf = (workers: readonly GpuWorker[]) =>
  workers.map((worker) => ({ worker, inHand: 0, completed: 0 }));
