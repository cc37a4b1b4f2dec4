/** What the user named -> image files, each once, in a stable order. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { UsageError } from './terminal.js';

const IMAGE_NAMES = '**/*.{jpg,jpeg,png,webp,tif,tiff,bmp,avif}';

export interface NamedImage {
  /** As the user would write it: relative beneath the working directory, else absolute. */
  shown: string;
  /** Absolute, links resolved: links that the user follows on his own machine are his business. */
  path: string;
}

/**
 * Arguments in the order given; within a folder or a glob by name. A file that is missing is kept, so that it
 * gets its own error. Throws `UsageError` for a folder or glob without images.
 */
export async function expandPaths(args: readonly string[]): Promise<NamedImage[]> {
  const images = new Map<string, NamedImage>();
  for (const arg of args) {
    for (const path of await expand(arg)) {
      const real = realPath(path);
      if (!images.has(real)) images.set(real, { shown: shownPath(path), path: real });
    }
  }
  return [...images.values()];
}

/** The folders that hold the images, each once. */
export function rootsOf(images: readonly NamedImage[]): string[] {
  return [...new Set(images.map(({ path }) => dirname(path)))];
}

async function expand(arg: string): Promise<string[]> {
  const kind = statSync(arg, { throwIfNoEntry: false });
  // A file whose name has a bracket in it is still a file.
  if (kind?.isDirectory() !== true && (kind !== undefined || !isDynamicPattern(arg))) {
    return [resolve(arg)];
  }
  const found = kind?.isDirectory()
    ? await glob(IMAGE_NAMES, { cwd: arg, absolute: true, caseSensitiveMatch: false })
    : await glob(arg, { absolute: true, onlyFiles: true });
  if (found.length === 0) throw new UsageError(`No image matches ${arg}.`);
  return found.map((path) => resolve(path)).sort();
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
