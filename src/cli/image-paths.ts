/** What the user named -> image files, each once, in a stable order. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { isPathError, pathFault } from '../base/path-fault.js';
import { UsageError } from './terminal.js';

const IMAGE_NAMES = '**/*.{jpg,jpeg,png,webp,tif,tiff,bmp,avif}';

export interface NamedImage {
  /** As the user would write it: relative beneath the working directory, else absolute. */
  shown: string;
  /** Absolute, links resolved: on their own machine, users may follow links anywhere. */
  path: string;
}

export interface FoundImages {
  images: NamedImage[];
  /** Folders that may not be read beneath those that were given. */
  unreadable: string[];
}

/**
 * Arguments in the order given; within a folder or a glob by name. A missing file is kept, so that it gets its own
 * error. Rejects with `UsageError` for a folder that cannot be read, and for a folder or glob without images.
 */
export async function expandPaths(args: readonly string[]): Promise<FoundImages> {
  const images = new Map<string, NamedImage>();
  const unreadable: string[] = [];
  for (const arg of args) {
    const found = await expand(arg).catch((error: unknown) => {
      throw isPathError(error) ? new UsageError(pathFault(error, arg, 'read')) : error;
    });
    unreadable.push(...found.unreadable);
    for (const path of found.files) {
      const real = realPath(path);
      if (!images.has(real)) images.set(real, { shown: shownPath(path), path: real });
    }
  }
  return { images: [...images.values()], unreadable };
}

/** The folders that hold the images, each once. */
export function rootsOf(images: readonly NamedImage[]): string[] {
  return [...new Set(images.map(({ path }) => dirname(path)))];
}

async function expand(arg: string): Promise<{ files: string[]; unreadable: string[] }> {
  const kind = statSync(arg, { throwIfNoEntry: false });
  // A file whose name has a bracket in it is still a file.
  if (kind?.isDirectory() !== true && (kind !== undefined || !isDynamicPattern(arg))) {
    return { files: [resolve(arg)], unreadable: [] };
  }
  const isFolder = kind?.isDirectory() === true;
  if (isFolder) checkFolder(arg);
  const found = isFolder
    ? await glob(IMAGE_NAMES, { cwd: arg, absolute: true, caseSensitiveMatch: false })
    : await glob(arg, { absolute: true, onlyFiles: true });
  const unreadable = isFolder ? await unreadableIn(arg) : [];
  if (found.length === 0) {
    const [first] = unreadable;
    if (first !== undefined) throw new UsageError(`No permission to read ${first}.`);
    throw new UsageError(isFolder ? `${arg} has no images.` : `No image matches ${arg}.`);
  }
  return { files: found.map((path) => resolve(path)).sort(), unreadable };
}

/** Throws what the system says. */
function checkFolder(folder: string): void {
  accessSync(folder, constants.R_OK | constants.X_OK);
}

/** The search skips them silently. */
async function unreadableIn(folder: string): Promise<string[]> {
  const below = await glob('**', { cwd: folder, absolute: true, onlyDirectories: true });
  return below
    .map((path) => resolve(path))
    .filter((path) => {
      try {
        checkFolder(path);
        return false;
      } catch {
        return true;
      }
    });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith(`..${sep}`) || short === '' ? path : short;
}
