/** Paths that the user named -> image files, each once, in a stable order. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { glob, isDynamicPattern, type GlobOptions } from 'tinyglobby';
import { addLeftOut, leftOutClause, type LeftOut } from '../api/left-out.js';
import { hasEscapes, pathOnDisk, searching } from '../files/listing/byte-names.js';
import { isReadable } from '../files/listing/find-images.js';
import { chooseImages, notEntered, PICTURES } from '../files/listing/image-names.js';
import { isPathError, pathFault } from '../base/path-fault.js';
import { UsageError } from './terminal.js';

export interface NamedImage {
  /** The path as the user would write it: relative beneath the working directory, else absolute. */
  shown: string;
  /** Absolute, links resolved: on their own machine, users may follow links anywhere. */
  path: string;
}

export interface FoundImages {
  images: NamedImage[];
  /** Folders that may not be read beneath those that were given. */
  unreadable: string[];
  /** Pictures of formats that are not read. */
  leftOut: LeftOut;
}

/**
 * Arguments in the order given; within a folder or a glob by name. A missing file is kept, so that it gets its own
 * error. Rejects with `UsageError` for a folder that cannot be read, and for a folder or glob without images.
 */
export async function expandPaths(args: readonly string[]): Promise<FoundImages> {
  const images = new Map<string, NamedImage>();
  const unreadable: string[] = [];
  const leftOut: LeftOut = {};
  for (const arg of args) {
    const found = await expand(arg).catch((error: unknown) => {
      throw isPathError(error) ? new UsageError(pathFault(error, arg, 'read')) : error;
    });
    unreadable.push(...found.unreadable);
    addLeftOut(leftOut, found.leftOut);
    for (const path of found.files) {
      const real = realPath(path);
      if (!images.has(real)) images.set(real, { shown: shownPath(path), path: real });
    }
  }
  return { images: [...images.values()], unreadable, leftOut };
}

/** The folders that hold the images, each once. */
export function rootsOf(images: readonly NamedImage[]): string[] {
  return [...new Set(images.map(({ path }) => folderOf(path)))];
}

/** Above what has no UTF-8 name: it can be opened beneath a root, but not be one. */
function folderOf(path: string): string {
  let folder = dirname(path);
  while (hasEscapes(folder)) folder = dirname(folder);
  return folder;
}

interface Found extends Omit<FoundImages, 'images'> {
  files: string[];
}

async function expand(arg: string): Promise<Found> {
  const onDisk = await pathOnDisk('/', resolve(arg));
  const kind = statSync(onDisk, { throwIfNoEntry: false });
  // A file whose name has a bracket in it is still a file.
  if (kind?.isDirectory() !== true && (kind !== undefined || !isDynamicPattern(arg))) {
    return { files: [resolve(arg)], unreadable: [], leftOut: {} };
  }
  const isFolder = kind?.isDirectory() === true;
  if (isFolder) accessSync(onDisk, constants.R_OK | constants.X_OK);
  const found = isFolder
    ? await glob(PICTURES, { ...searchFrom(resolve(arg), ''), caseSensitiveMatch: false })
    : await glob(arg, searchFrom(process.cwd(), arg));
  const { images, leftOut } = chooseImages(found);
  const unreadable = isFolder ? await unreadableIn(arg) : [];
  if (images.length === 0) {
    const [first] = unreadable;
    if (first !== undefined) throw new UsageError(`No permission to read ${first}.`);
    const others = leftOutClause(leftOut);
    throw new UsageError(
      isFolder ? `${arg} has no images${others}.` : `No image matches ${arg}${others}.`,
    );
  }
  return { files: images.map((path) => resolve(path)).sort(), unreadable, leftOut };
}

function searchFrom(cwd: string, pattern: string): GlobOptions {
  return {
    cwd,
    absolute: true,
    onlyFiles: true,
    fs: searching(notEntered(pattern)),
  };
}

/** The search skips them silently. */
async function unreadableIn(folder: string): Promise<string[]> {
  const found = await glob('**', { ...searchFrom(resolve(folder), ''), onlyDirectories: true });
  const below = found.map((path) => resolve(path));
  const readable = await Promise.all(
    below.map((path) => isReadable({ root: '/', relative: path })),
  );
  return below.filter((_, index) => readable[index] === false);
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
