/** Opens files of image roots by the rules of detection: never one outside its root, never one that blocks. */
import type { BigIntStats } from 'node:fs';
import { constants, open, realpath, type FileHandle } from 'node:fs/promises';
import { pathOnDisk } from './byte-names.js';
import type { Place } from './find-images.js';

/**
 * What `read` gives for the first place at which it gives something. Null: no place has a regular file that can be read.
 * The file is closed afterwards.
 */
export async function readFirst<T>(
  places: readonly Place[],
  read: (file: FileHandle, status: BigIntStats) => Promise<T | null>,
): Promise<T | null> {
  for (const place of places) {
    const found = await readAt(place, read).catch(() => null);
    if (found !== null) return found;
  }
  return null;
}

async function readAt<T>(
  place: Place,
  read: (file: FileHandle, status: BigIntStats) => Promise<T | null>,
): Promise<T | null> {
  const file = await openBeneath(place);
  if (file === null) return null;
  try {
    const status = await file.stat({ bigint: true });
    return status.isFile() ? await read(file, status) : null;
  } finally {
    await file.close();
  }
}

/** A link is followed, as by detection, where it leads to a file beneath the root. Null: it leads out of it. */
async function openBeneath({ root, relative }: Place): Promise<FileHandle | null> {
  const real = await realpath(await pathOnDisk(root, relative), 'buffer');
  const folder = Buffer.from(`${(await realpath(root)).replace(/\/$/, '')}/`);
  if (!real.subarray(0, folder.length).equals(folder)) return null;
  // A FIFO would hold the open until another program writes.
  return open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
