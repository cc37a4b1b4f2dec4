/** Which GPUs there are and what they do, for TypeScript. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpuReadings, NativeGpus } from './contract.js';

/** The GPUs that can be used now, or what is missing. Throws `AddonLoadError`. */
export function gpus(): NativeGpus {
  return loadAddon().gpus();
}

/**
 * The last look at the GPUs that a core can use; the first call starts looking, about once a second, on its own thread.
 * It touches the driver: do not call it where the settings name the CPU. Throws `AddonLoadError`.
 */
export function gpuReadings(): NativeGpuReadings {
  return loadAddon().gpuReadings();
}
