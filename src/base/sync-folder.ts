import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Puts the names in a folder on disk: without it, a power cut can undo a rename. Throws what the kernel says. */
export function syncFolder(folder: string | Buffer): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
