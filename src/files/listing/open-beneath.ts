/**
 * Opens files and folders of image roots by the rules of detection: never one outside the roots, never one that blocks.
 */
import type { BigIntStats } from 'node:fs';
import { constants, open, readlink, type FileHandle } from 'node:fs/promises';
import { pictureType } from '../picture-format.js';
import { isBeneathRoots, resolveBeneath, type Place } from './resolve-beneath.js';

/** Enough to know a picture by. */
const HEAD_BYTES = 32;

/**
 * The first result of `read` that is not null, over the places. Null: no place has a regular file that can be read and
 * for which `read` has a result. The file is closed afterwards.
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
  const found = await resolveBeneath(place);
  if (found?.kind !== 'file') return null;
  return whileOpen(found.real, place, async (file) => {
    const status = await file.stat({ bigint: true });
    return status.isFile() ? read(file, status) : null;
  });
}

/** By its first bytes, whatever its name. */
export async function isPicture(place: Place): Promise<boolean> {
  const type = await readFirst([place], async (file) => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return pictureType(buffer.subarray(0, bytesRead));
  });
  return type !== null;
}

/** `list` gets a path by which the folder at the real path can be read, whatever takes its name meanwhile. */
export async function inFolder<T>(
  real: Buffer,
  place: Place,
  list: (folder: string) => Promise<T>,
): Promise<T> {
  return whileOpen(real, place, (folder) => list(descriptorPath(folder)));
}

/**
 * A folder of the path may have become a link since the path was resolved, and the open has followed it: the kernel
 * says where what was opened lies. Rejects with `ENOENT` where that is outside.
 */
async function whileOpen<T>(
  real: Buffer,
  place: Place,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  // A FIFO would hold the open until another program writes.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = await readlink(descriptorPath(file), 'buffer');
    if (!opened.equals(real) && !(await isBeneathRoots(opened, place))) {
      throw Object.assign(new Error('It was exchanged.'), { code: 'ENOENT' });
    }
    return await use(file);
  } finally {
    await file.close();
  }
}

function descriptorPath(file: FileHandle): string {
  return `/proc/self/fd/${file.fd}`;
}
