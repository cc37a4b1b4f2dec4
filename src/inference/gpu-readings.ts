/** What the GPUs do, for statistics that are asked for many times a second. */
import type { NativeGpuReading, NativeGpuReadings } from '../native/gpu-reading.js';
import type { Logger } from './logger.js';

export { SLOWDOWNS } from '../native/gpu-reading.js';

/** From good to bad. */
export const DEVICE_STATES = ['ok', 'failed_check', 'lost'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

/** The device that a model runs on. */
export interface ModelDevice {
  /** As CUDA counts in this process; 0 for the CPU. */
  index: number;
  name: string;
  /** lost: it faulted or hangs, for every model and for good. failed_check: the model failed its self-check. */
  state: DeviceState;
}

export interface GpuReading extends NativeGpuReading {
  /** The worst that any loaded model found; a lost GPU stays lost to its process. */
  state: DeviceState;
}

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
  let states = new Map<number, DeviceState>();
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
function worstStates(devices: ModelDevice[], lost: Set<number>): Map<number, DeviceState> {
  const states = new Map<number, DeviceState>();
  for (const { index, state } of devices) {
    states.set(index, worse(states.get(index) ?? 'ok', state));
    if (state === 'lost') lost.add(index);
  }
  for (const index of lost) states.set(index, 'lost');
  return states;
}

export function worse(one: DeviceState, other: DeviceState): DeviceState {
  return DEVICE_STATES.indexOf(one) > DEVICE_STATES.indexOf(other) ? one : other;
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
