/** How much memory the loaded models may take together, and which of them go when it is too much. */
import type { LoadedModel } from './loaded-model.js';
import { machineMemory } from './machine-memory.js';

const BYTES_PER_MB = 1e6;
/** The rest is for pixels, results and everybody else on the machine. */
const SHARE_OF_MEMORY = 0.5;

/**
 * Bytes: what `modelMemoryMb` says. 0 is half of the machine's memory, or of the container's, on the CPU, and no bound
 * on GPUs: they say themselves when theirs is short.
 */
export function modelMemoryBudget(modelMemoryMb: number, device: 'cpu' | 'cuda'): number {
  if (modelMemoryMb > 0) return modelMemoryMb * BYTES_PER_MB;
  if (device === 'cuda') return Number.POSITIVE_INFINITY;
  return SHARE_OF_MEMORY * machineMemory();
}

/**
 * Which of `others` to unload so that `fresh` fits into `budget` bytes beside the rest: those used longest ago, never
 * `standard`. Where it would not fit even beside `standard` alone, all others go and it stays: what a model takes is
 * an estimate, and no ground to refuse it.
 */
export function unloadedFor(
  fresh: LoadedModel,
  others: readonly LoadedModel[],
  standard: LoadedModel | undefined,
  budget: number,
): LoadedModel[] {
  const unloaded: LoadedModel[] = [];
  let taken = bytesOf([fresh, ...others]);
  for (const model of byUse(others.filter((other) => other !== standard))) {
    if (taken <= budget) break;
    unloaded.push(model);
    taken -= model.native.memoryBytes;
  }
  return unloaded;
}

/** The one used longest ago first. */
export function byUse(models: readonly LoadedModel[]): LoadedModel[] {
  return [...models].sort((a, b) => a.lastUse - b.lastUse);
}

function bytesOf(models: readonly LoadedModel[]): number {
  return models.reduce((sum, model) => sum + model.native.memoryBytes, 0);
}
