/** Finds out what a path is, and lists the images of a folder or a glob. */
import { access, constants } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { glob } from 'tinyglobby';
import { limitOwnTime } from '../../base/own-time.js';
import { pathOnDisk, searching } from './byte-names.js';
import { addLeftOut, type LeftOut } from '../../api/left-out.js';
import { chooseImages, notEntered, PICTURES, toPattern } from './image-names.js';
import { LinkedSearch, type OnFolder } from './linked-search.js';
import { resolveBeneath, type OutsideLink, type Place } from './resolve-beneath.js';

export type { Place } from './resolve-beneath.js';

export const GLOB_MAGIC = /[*?[\]{}]/;

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
  /** Pictures of formats that are not read, and in a folder links that lead out of the roots. */
  leftOut: LeftOut;
}

/**
 * Links are followed beneath the roots: `LinkedSearch`. Rejects when the time has passed, in which a wait for a CPU
 * does not count.
 */
export async function findImages(listing: Listing, onFolder?: OnFolder): Promise<FoundImages> {
  const { root, relative, isFolder, cap, withinMs } = listing;
  const start = isFolder ? relative : literalPrefix(relative);
  const from = await resolveBeneath({ ...listing, relative: start });
  if (from?.kind !== 'folder') return { images: [], leftOut: {} };
  const over = new AbortController();
  const endLimit = limitOwnTime(process.pid, withinMs, () => {
    over.abort();
  });
  const cwd = isFolder ? join(root, relative) : root;
  const search = new LinkedSearch(listing, onFolder);
  const found = await search
    .find(cwd, (read) =>
      glob(isFolder ? PICTURES : toPattern(relative), {
        cwd,
        onlyFiles: true,
        followSymbolicLinks: false,
        expandDirectories: false,
        extglob: false,
        fs: searching(notEntered(isFolder ? '' : relative), read),
        caseSensitiveMatch: !isFolder,
        signal: over.signal,
      }),
    )
    .finally(endLimit);
  const { images, leftOut } = chooseImages(found);
  if (isFolder) addLeftOut(leftOut, search.leadingOut);
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

export type PathKind = 'file' | 'folder' | 'absent' | OutsideLink;

export async function kindOf(place: Place): Promise<PathKind> {
  const found = await resolveBeneath(place);
  if (found === null) return 'absent';
  if (found.kind === 'outside') return { link: found.link, inCircle: found.inCircle };
  return found.kind === 'folder' ? 'folder' : 'file';
}

/** Whether this user may list the folder and open what is in it. */
export async function isReadable({ root, relative }: Place): Promise<boolean> {
  return access(await pathOnDisk(root, relative), constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}
