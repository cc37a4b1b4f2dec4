/** The usable GPUs and their readings, for TypeScript. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpuReadings, NativeGpus } from './contract.js';

let found: NativeGpus | null = null;

/** The GPUs that can be used, or what is missing, at the first call in this process. Throws `AddonLoadError`. */
export function gpus(): NativeGpus {
  // CUDA lists the GPUs once per process: a second look at the same start only takes time.
  found ??= loadAddon().gpus();
  return found;
}

/**
 * The latest reading of the GPUs that a core can use. The first call starts a thread that reads about once per second.
 * It uses the driver: do not call it if the settings name the CPU. Throws `AddonLoadError`.
 */
export function gpuReadings(): NativeGpuReadings {
  return loadAddon().gpuReadings();
}
