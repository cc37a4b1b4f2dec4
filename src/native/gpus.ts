/** Which GPUs there are, for TypeScript. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpus } from './contract.js';

/** The GPUs that can be used now, or what is missing. Throws `AddonLoadError`. */
export function gpus(): NativeGpus {
  return loadAddon().gpus();
}
