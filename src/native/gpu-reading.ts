/** What may hold the clocks down, as `native/gpu_monitor/nvml_library.cc` names it. */
export const SLOWDOWNS = [
  'power_cap',
  'thermal',
  'hardware_slowdown',
  'hardware_thermal',
  'power_brake',
] as const;
export type Slowdown = (typeof SLOWDOWNS)[number];

/** What the addon knows of a GPU at one moment. Null: this GPU, its driver or its mode of use does not tell. */
export interface NativeGpuReading {
  /** As CUDA counts in this process. */
  index: number;
  name: string;
  uuid: string;
  /** PCI, for example `0000:17:00.0`. */
  busId: string;
  numaNode: number | null;
  /** Bytes; used with what the driver keeps for itself. */
  memoryTotal: number | null;
  memoryUsed: number | null;
  /** Percent of time in which a kernel ran. */
  utilisation: number | null;
  /** Degrees Celsius. */
  temperature: number | null;
  /** Watts. */
  power: number | null;
  powerLimit: number | null;
  smClockMhz: number | null;
  /** Memory errors that could not be corrected, since the driver was loaded. */
  uncorrectedErrors: number | null;
  /** True where the figures are those of a GPU of which this process has a part only. */
  mig: boolean | null;
  /** What holds the clocks down. */
  slowedBy: Slowdown[];
  /** Milliseconds since the figures were taken; null before the first. */
  ageMs: number | null;
  /** Why figures are unknown or old: a sentence; null when all is well. */
  reason: string | null;
}

export interface NativeGpuReadings {
  gpus: NativeGpuReading[];
  /** Why there are none; null where there are. */
  missing: string | null;
}
