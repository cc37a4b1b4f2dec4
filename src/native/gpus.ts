/** The usable GPUs, for TypeScript. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpus } from './contract.js';

let found: NativeGpus | null = null;

/** The GPUs that can be used, or what is missing, at the first call in this process. Throws `AddonLoadError`. */
export function gpus(): NativeGpus {
  // CUDA lists the GPUs once per process: a second look at the same start only takes time.
  found ??= loadAddon().gpus();
  return found;
}
