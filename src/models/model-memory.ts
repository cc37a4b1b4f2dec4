/** How the memory of the machine is divided, and which models are unloaded if the part for models is too small. */
import { totalmem } from 'node:os';
import type { Device } from '../api/schemas/model.js';
import type { LoadedModel } from './loaded-model.js';

const BYTES_PER_MB = 1e6;
/** Fractions of the machine's memory. The rest is for results, files and other processes. */
const SHARE_OF_MODELS = 1 / 2;
const SHARE_OF_PIXELS = 1 / 8;

/** Memory in bytes of the machine, or of the container if it has less. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return Math.min(totalmem(), limit > 0 ? limit : Number.POSITIVE_INFINITY);
}

/** Bytes of pixels that images of jobs may hold while they wait for the network. */
export function lookAheadBytes(): number {
  return Math.floor(SHARE_OF_PIXELS * machineMemory());
}

/**
 * The bytes of `modelMemoryMb`. 0 means half of the memory of the machine or container on the CPU, and no bound on
 * GPUs, where a load fails if memory is short.
 */
export function modelMemoryBudget(modelMemoryMb: number, device: Exclude<Device, 'auto'>): number {
  if (modelMemoryMb > 0) return modelMemoryMb * BYTES_PER_MB;
  if (device === 'cuda') return Number.POSITIVE_INFINITY;
  return SHARE_OF_MODELS * machineMemory();
}

/**
 * Chooses which of `others` to unload so that `fresh` fits into `budget` bytes with the rest: the least recently used
 * first, never `standard`. If `fresh` does not fit even with `standard` alone, all others are unloaded and it is
 * loaded: the memory of a model is an estimate, and no reason to refuse it.
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

/** Sorts the least recently used model first. */
export function byUse(models: readonly LoadedModel[]): LoadedModel[] {
  return [...models].sort((a, b) => a.lastUse - b.lastUse);
}

/** Memory of all models together. */
export function bytesOf(models: readonly LoadedModel[]): number {
  return models.reduce((sum, model) => sum + model.native.memoryBytes, 0);
}
