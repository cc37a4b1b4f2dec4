/** How much memory there is, and what part of it decoded pixels may take. */
import { totalmem } from 'node:os';

/** Models have up to a half of it; results, files and everybody else need room too. */
const SHARE_OF_PIXELS = 1 / 8;

/** Bytes of the machine, or of the container where that has less. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return Math.min(totalmem(), limit > 0 ? limit : Number.POSITIVE_INFINITY);
}

/** Bytes of pixels that images of jobs may hold while they wait for the network. */
export function lookAheadBytes(): number {
  return Math.floor(SHARE_OF_PIXELS * machineMemory());
}
