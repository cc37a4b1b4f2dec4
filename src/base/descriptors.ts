/** The limit of open files and sockets of this process, and what it leaves for connections. Linux only. */
import { readdir } from 'node:fs/promises';
import { processLimit } from './process-limit.js';

/** Descriptors for the store, up to 64 images that are read at once, 50 webhooks, listings, libraries and pipes. */
const RESERVED = 256;
/** With fewer descriptors left the process is certain to open no image. */
const SHORT = 16;

/** Infinity where it is not known. */
export function descriptorLimit(): number {
  return processLimit('Max open files');
}

/** How many connections the process can hold beside its own files; below 1 where the limit is too low to start. */
export function connectionLimit(): number {
  return descriptorLimit() - RESERVED;
}

/** Says that files cannot be opened at present; null where they can. */
export async function descriptorShortage(): Promise<string | null> {
  const limit = descriptorLimit();
  // The listing needs a descriptor itself.
  const open = await readdir('/proc/self/fd').then(
    (names) => names.length,
    (error: unknown) => ((error as NodeJS.ErrnoException).code === 'EMFILE' ? limit : 0),
  );
  if (open < limit - SHORT) return null;
  return `The process has ${open} files and connections open and may have ${limit}; raise that limit (ulimit -n).`;
}
