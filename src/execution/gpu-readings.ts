/** What the GPUs do, for statistics that are asked for many times a second. */
import { GPU_STATES, type GpuReading, type GpuState } from '../contract/gpu-reading.js';
import type { NativeGpuReadings } from '../native/gpu-reading.js';
import type { Logger } from '../logger-port.js';
import type { ModelDevice } from '../models/loaded-model.js';

/** The addon looks once a second; crossing to it for every image would be waste. */
const KEEP_MS = 250;

/** The first look takes a moment. */
const MISSING_AFTER_MS = 5_000;

export interface GpuReadingsSources {
  read(): NativeGpuReadings;
  /** Of all loaded models; null once the core closes: then nothing more is found out. */
  devices(): ModelDevice[] | null;
  logger: Logger;
}

/**
 * Returns how to ask for the last look; the sources are asked at most every 250 ms. Why there are no GPUs goes into the
 * log, each reason once.
 */
export function createGpuReadings(sources: GpuReadingsSources): () => readonly GpuReading[] {
  const tell = createTeller(sources.logger);
  const lost = new Set<number>();
  let states = new Map<number, GpuState>();
  let readAt = -Infinity;
  let last: readonly GpuReading[] = [];
  return () => {
    const now = performance.now();
    if (now - readAt >= KEEP_MS) {
      const look = sources.read();
      const devices = sources.devices();
      if (devices !== null) states = worstStates(devices, lost);
      last = look.gpus.map((gpu) => ({ ...gpu, state: states.get(gpu.index) ?? 'ok' }));
      readAt = now;
      tell(look.missing, now);
    }
    return last;
  };
}

/** By the GPU's index; adds to `lost` and keeps what is there, since models come and go. */
function worstStates(devices: ModelDevice[], lost: Set<number>): Map<number, GpuState> {
  const states = new Map<number, GpuState>();
  for (const { index, state } of devices) {
    states.set(index, worse(states.get(index) ?? 'ok', state));
    if (state === 'lost') lost.add(index);
  }
  for (const index of lost) states.set(index, 'lost');
  return states;
}

export function worse(one: GpuState, other: GpuState): GpuState {
  return GPU_STATES.indexOf(one) > GPU_STATES.indexOf(other) ? one : other;
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
