/** Readings of the GPU of this process, for statistics that are read many times per second. */
import type { GpuReading, GpuState } from '../../api/schemas/gpu-reading.js';
import type { NativeGpu } from '../../native/contract.js';
import { parseReading, type SmiReading } from './nvidia-smi.js';

/** Pause between the end of a reading and the start of the next one. */
const PAUSE_MS = 2_000;

/** A reading that takes longer is reported as hanging. */
const OVERDUE_MS = 3_000;

export interface GpuReadingsSources {
  gpu: NativeGpu;
  /** Rejects with a sentence. */
  read(): Promise<SmiReading>;
  /** Whether this process can use its GPU. */
  state(): GpuState;
  /** True when no more readings are wanted. */
  isClosed(): boolean;
}

/**
 * Reads at once and then about every 2 s, one reading at a time, until it is closed. The function that it returns gives
 * the last figures with their age and waits for nothing.
 */
export function startGpuReadings(sources: GpuReadingsSources): () => readonly GpuReading[] {
  const { memoryTotal, ...ids } = sources.gpu;
  let { figures } = parseReading('');
  let reason: string | null = 'nvidia-smi has not answered yet.';
  let readAt: number | null = null;
  let askedAt: number | null = null;

  const read = async (): Promise<void> => {
    if (sources.isClosed()) return;
    askedAt = performance.now();
    try {
      ({ figures, reason } = await sources.read());
      readAt = performance.now();
    } catch (error) {
      reason = (error as Error).message;
    }
    askedAt = null;
    setTimeout(() => void read(), PAUSE_MS).unref();
  };
  void read();

  const overdue = (now: number): string | null => {
    const waited = askedAt === null ? 0 : now - askedAt;
    if (waited < OVERDUE_MS) return null;
    return `nvidia-smi has not answered for ${Math.floor(waited / 1_000)} s; the driver may hang.`;
  };
  return () => {
    const now = performance.now();
    return [
      {
        ...ids,
        ...figures,
        memoryTotalBytes: figures.memoryTotalBytes ?? memoryTotal,
        state: sources.state(),
        sampleAgeSeconds: readAt === null ? null : (now - readAt) / 1_000,
        reason: overdue(now) ?? reason,
      },
    ];
  };
}
