/** What a GPU does at most: the figures that a benchmark holds everything else against. */
import { loadAddon } from './addon-loader.js';
import type { NativeGpuLimits } from './contract.js';

/**
 * Each figure is the median of `rounds`. Takes the copies' second or two and at most about `seconds` for the matrix
 * product. Rejects with an Error that carries `code`: `gpu_unavailable` where no GPU can be used.
 */
export async function gpuLimits(rounds: number, seconds: number): Promise<NativeGpuLimits> {
  return loadAddon().gpuLimits(rounds, seconds);
}
