/** Readings of the GPUs, for statistics that are read many times per second. */
import type { GpuReading, GpuState } from '../api/gpu-reading.js';
import type { Logger } from '../base/logger-port.js';
import type { NativeGpuReadings } from '../native/contract.js';

/** The addon reads once per second; a call per image would be waste. */
const KEEP_MS = 250;

/** The first look takes a moment. */
const MISSING_AFTER_MS = 5_000;

export interface GpuReadingsSources {
  read(): NativeGpuReadings;
  /** Whether this process can use its GPU. */
  state(): GpuState;
  logger: Logger;
}

/**
 * Returns a function that gives the last look; the sources are asked at most every 250 ms. The log says why there are
 * no GPUs, each reason once.
 */
export function createGpuReadings(sources: GpuReadingsSources): () => readonly GpuReading[] {
  const tell = createTeller(sources.logger);
  let readAt = -Infinity;
  let last: readonly GpuReading[] = [];
  return () => {
    const now = performance.now();
    if (now - readAt >= KEEP_MS) {
      const look = sources.read();
      const state = sources.state();
      last = look.gpus.map((gpu) => ({ ...gpu, state }));
      readAt = now;
      tell(look.missing, now);
    }
    return last;
  };
}

function createTeller(logger: Logger): (missing: string | null, now: number) => void {
  const told = new Set<string>();
  let missingSince: number | null = null;
  return (missing, now) => {
    missingSince = missing === null ? null : (missingSince ?? now);
    if (missing === null || missingSince === null || told.has(missing)) return;
    if (now - missingSince < MISSING_AFTER_MS) return;
    told.add(missing);
    logger.warn({ reason: missing }, 'status and metrics show no GPU');
  };
}

/** The same, told some time ago. */
export function aged(readings: readonly GpuReading[], ms: number): GpuReading[] {
  return readings.map((reading) => ({
    ...reading,
    ageMs: reading.ageMs === null ? null : reading.ageMs + ms,
  }));
}
