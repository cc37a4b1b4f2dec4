/** What the addon tells of the GPUs that a core can use. */
import type { GpuReading } from '../contract/gpu-reading.js';

/** Of one GPU: whether it may be used, the addon does not know. */
export type NativeGpuReading = Omit<GpuReading, 'state'>;

export interface NativeGpuReadings {
  gpus: NativeGpuReading[];
  /** Why there are none; null where there are. */
  missing: string | null;
}
