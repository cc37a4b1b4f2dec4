/** What is known of a GPU at one moment. */
import { z } from 'zod';

/** What may hold the clocks down. */
export const SLOWDOWNS = [
  'power_cap',
  'thermal',
  'hardware_slowdown',
  'hardware_thermal',
  'power_brake',
] as const;

/** From good to bad. */
export const GPU_STATES = ['ok', 'failed_check', 'lost'] as const;

/** Null: this GPU, its driver or its mode of use does not tell. */
export const gpuReadingSchema = z.object({
  /** As CUDA counts in the worker's process. */
  index: z.int(),
  name: z.string(),
  uuid: z.string(),
  /** PCI, for example `0000:17:00.0`. */
  busId: z.string(),
  numaNode: z.int().nullable(),
  /** lost: it faulted or hangs. failed_check: a loaded model fails its self-check on it. */
  state: z.enum(GPU_STATES),
  /** Bytes; `memoryUsed` includes what the driver keeps for itself. */
  memoryTotal: z.number().nullable(),
  memoryUsed: z.number().nullable(),
  /** Percent of time in which a kernel ran. */
  utilisation: z.number().nullable(),
  /** Degrees Celsius. */
  temperature: z.number().nullable(),
  /** Watts. */
  power: z.number().nullable(),
  powerLimit: z.number().nullable(),
  smClockMhz: z.number().nullable(),
  /** Memory errors that could not be corrected, since the driver was loaded. */
  uncorrectedErrors: z.number().nullable(),
  /** True where the figures are those of a GPU of which the process has a part only. */
  mig: z.boolean().nullable(),
  slowedBy: z.array(z.enum(SLOWDOWNS)),
  /** Milliseconds since the figures were taken; null before the first. */
  ageMs: z.number().nullable(),
  /** Why figures are unknown or old: a sentence; null when all is well. */
  reason: z.string().nullable(),
});

export type GpuReading = z.infer<typeof gpuReadingSchema>;
export type GpuState = GpuReading['state'];
