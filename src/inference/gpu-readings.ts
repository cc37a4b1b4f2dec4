/** What the GPUs do, for statistics that are asked for many times a second. */
import type { NativeGpuReading, NativeGpuReadings } from '../native/gpu-reading.js';

export type GpuReading = NativeGpuReading;

/** The addon looks once a second; crossing to it for every image would be waste. */
const KEEP_MS = 250;

/** Returns how to ask for the last look; `read` is called at most every 250 ms. */
export function createGpuReadings(read: () => NativeGpuReadings): () => readonly GpuReading[] {
  let readAt = -Infinity;
  let last: readonly GpuReading[] = [];
  return () => {
    const now = performance.now();
    if (now - readAt >= KEEP_MS) {
      last = read().gpus;
      readAt = now;
    }
    return last;
  };
}

/** The same, told some time ago. */
export function aged(readings: readonly GpuReading[], ms: number): GpuReading[] {
  return readings.map((reading) => ({
    ...reading,
    ageMs: reading.ageMs === null ? null : reading.ageMs + ms,
  }));
}
