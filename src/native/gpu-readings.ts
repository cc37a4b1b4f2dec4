/** What the GPUs do, for TypeScript. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpuReadings } from './gpu-reading.js';

/**
 * The last look at the GPUs that a core can use; the first call starts looking, about once a second. Touches the
 * driver, on a thread of its own: not to be called where the CPU was asked for. Throws `AddonLoadError`.
 */
export function gpuReadings(): NativeGpuReadings {
  return loadAddon().gpuReadings();
}
