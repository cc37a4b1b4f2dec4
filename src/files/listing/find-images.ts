/** Finds out what a path is, and lists the images of a folder or a glob. */
import { access, constants, lstat, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { glob } from 'tinyglobby';
import { limitOwnTime } from '../../base/own-time.js';
import { pathOnDisk, searching, type OnFolder } from './byte-names.js';
import { chooseImages, notEntered, PICTURES, toPattern, type LeftOut } from './image-names.js';

export const GLOB_MAGIC = /[*?[\]{}]/;

/** `relative` is beneath `root`. */
export interface Place {
  root: string;
  relative: string;
}

export interface Listing extends Place {
  /** Else `relative` is a glob. */
  isFolder: boolean;
  /** The result has at most one image more: enough to see that there are too many. */
  cap: number;
  withinMs: number;
}

export interface FoundImages {
  /** Sorted by code units, relative to the root. */
  images: string[];
  /** Pictures of formats that are not read. */
  leftOut: LeftOut;
}

/** Symbolic links are not followed. Rejects when the time has passed, in which a wait for a CPU does not count. */
export async function findImages(listing: Listing, onFolder?: OnFolder): Promise<FoundImages> {
  const { root, relative, isFolder, cap, withinMs } = listing;
  const start = isFolder ? relative : literalPrefix(relative);
  // The walk itself follows no link, but its starting folder could have been reached through one.
  if (!(await isPlainFolder({ root, relative: start }))) return { images: [], leftOut: {} };
  const over = new AbortController();
  const endLimit = limitOwnTime(process.pid, withinMs, () => {
    over.abort();
  });
  const found = await glob(isFolder ? PICTURES : toPattern(relative), {
    cwd: isFolder ? join(root, relative) : root,
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: false,
    extglob: false,
    fs: searching(notEntered(isFolder ? '' : relative), onFolder),
    caseSensitiveMatch: !isFolder,
    signal: over.signal,
  }).finally(endLimit);
  const { images, leftOut } = chooseImages(found);
  const listed = images.sort(byCodeUnits).slice(0, cap + 1);
  return {
    images: isFolder ? listed.map((file) => posix.join(relative, file)) : listed,
    leftOut,
  };
}

/** The components before the first wildcard. */
export function literalPrefix(pattern: string): string {
  const components = pattern.split('/');
  const first = components.findIndex((component) => GLOB_MAGIC.test(component));
  return components.slice(0, Math.max(first, 0)).join('/') || '.';
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export type PathKind = 'file' | 'folder' | 'absent';

/** Does not follow links. */
export async function kindOf({ root, relative }: Place): Promise<PathKind> {
  try {
    const entry = await lstat(await pathOnDisk(root, relative));
    return entry.isDirectory() ? 'folder' : 'file';
  } catch {
    return 'absent';
  }
}

/** Whether this user may list the folder and open what is in it. */
export async function isReadable({ root, relative }: Place): Promise<boolean> {
  return access(await pathOnDisk(root, relative), constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether no component beneath the root is a link. */
export async function isPlainFolder({ root, relative }: Place): Promise<boolean> {
  try {
    const real = await realpath(await pathOnDisk(root, relative), 'buffer');
    const plain = await pathOnDisk(await realpath(root), posix.join(relative, '.'));
    return real.equals(Buffer.from(plain));
  } catch {
    return false;
  }
}
