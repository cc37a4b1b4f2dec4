/** Limits of memory under which the service cannot start. */
import { processLimit } from './process-limit.js';

const MIB = 2 ** 20;
/** Measured: with the bundled model on two cores a container of 350 MiB is killed at the start, one of 400 serves. */
const LEAST_MEMORY_MIB = 400;
/** Measured: 12.7 GiB, of which Node.js reserves ten for WebAssembly. Almost all of it is never used. */
const LEAST_ADDRESSES_MIB = 13 * 1_024;

/** Why the process has too little memory to start, and what to do; null where it has enough. */
export function memoryShortage(): string | null {
  const memory = process.constrainedMemory() / MIB;
  if (memory > 0 && memory < LEAST_MEMORY_MIB) {
    return (
      `The process may use ${Math.floor(memory)} MiB of memory and needs ${LEAST_MEMORY_MIB}, larger models more: ` +
      'raise the limit of its container (--memory of docker, MemoryMax of systemd).'
    );
  }
  const addresses = processLimit('Max address space') / MIB;
  if (addresses < LEAST_ADDRESSES_MIB) {
    return (
      `The address space of the process is limited to ${Math.floor(addresses)} MiB and Node.js reserves more: ` +
      'remove that limit (ulimit -v, LimitAS of systemd) and limit the memory of the container instead.'
    );
  }
  return null;
}
