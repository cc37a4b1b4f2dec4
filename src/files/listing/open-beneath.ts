/** Opens a file of an image root by the rules of detection: never one outside the root, never one that blocks. */
import { constants, open, realpath, type FileHandle } from 'node:fs/promises';
import { pathOnDisk } from './byte-names.js';
import type { Place } from './find-images.js';

/** A link is followed, as by detection, where it leads to a file beneath the root. Null: it leads out of it. */
export async function openBeneath({ root, relative }: Place): Promise<FileHandle | null> {
  const real = await realpath(await pathOnDisk(root, relative), 'buffer');
  const folder = Buffer.from(`${(await realpath(root)).replace(/\/$/, '')}/`);
  if (!real.subarray(0, folder.length).equals(folder)) return null;
  // A FIFO would hold the open until another program writes.
  return open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
