/**
 * The list of a sort: where each picture of a run goes. It is whole on the disk before anything is placed, so that a
 * sort that was killed goes on, and any sort can be undone.
 */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { syncFolder } from '../../base/sync-folder.js';
import { isProcessed, type ExportedImage } from '../../export/export-source.js';
import { classFolder } from '../../export/file-names.js';
import { hasEscapes, pathOnDisk } from '../../files/listing/byte-names.js';
import { SORT_LIST, SORTED, type Named } from './named-files.js';
import { writeWhole } from './run-files.js';
import type { Sort } from './sort-ways.js';

export interface SortedPicture {
  /** Absolute. */
  from: string;
  /** The bytes of that path in base64, where text cannot say them. */
  bytes?: string;
  /** Beneath the run folder. */
  to: string;
}

export interface SortList {
  sort: Sort;
  pictures: () => AsyncGenerator<SortedPicture, void>;
}

/** Folders of images that show not one class. */
const OTHERS = { none: 'empty', many: 'several', failed: 'failed' };

/** The class that an image shows, where it is one. */
function outcomeFolder(image: ExportedImage): string {
  if (!isProcessed(image)) return OTHERS.failed;
  const [name, ...others] = new Set(image.detections.map((detection) => detection.class));
  if (name === undefined) return OTHERS.none;
  if (others.length > 0) return OTHERS.many;
  const folder = classFolder(name);
  return Object.values(OTHERS).includes(folder) ? `${folder}_` : folder;
}

/** Null where nothing was sorted. */
export async function readSortList(folder: string): Promise<SortList | null> {
  const path = join(folder, SORT_LIST);
  if (!existsSync(path)) return null;
  for await (const { sort } of linesOf<{ sort: Sort }>(path)) {
    return {
      sort,
      pictures: async function* () {
        let isFirst = true;
        for await (const picture of linesOf<SortedPicture>(path)) {
          if (!isFirst) yield picture;
          isFirst = false;
        }
      },
    };
  }
  return null;
}

async function* linesOf<T>(path: string): AsyncGenerator<T, void> {
  const file = await open(path);
  for await (const line of file.readLines()) yield JSON.parse(line) as T;
}

/** On the disk when it resolves. */
export async function writeSortList(
  folder: string,
  sort: Sort,
  named: Named,
  pages: AsyncIterable<readonly ExportedImage[]>,
): Promise<void> {
  await writeWhole(join(folder, SORT_LIST), listText(sort, named, pages));
  syncFolder(folder);
}

async function* listText(
  sort: Sort,
  named: Named,
  pages: AsyncIterable<readonly ExportedImage[]>,
): AsyncGenerator<string, void> {
  yield `${JSON.stringify({ sort })}\n`;
  const base = commonFolder(named);
  for await (const page of pages) {
    const pictures = await Promise.all(page.map((image) => sortedPicture(image, base)));
    yield pictures.map((picture) => `${JSON.stringify(picture)}\n`).join('');
  }
}

async function sortedPicture(image: ExportedImage, base: string): Promise<SortedPicture> {
  const from = image.image_path;
  const onDisk = hasEscapes(from) ? await pathOnDisk('/', from.slice(1)) : from;
  return {
    from,
    ...(typeof onDisk !== 'string' && { bytes: onDisk.toString('base64') }),
    to: join(SORTED, outcomeFolder(image), relative(base, from)),
  };
}

/** The deepest folder that holds all pictures: beneath a folder of an outcome they have their paths in it. */
function commonFolder({ folders, images, hasList }: Named): string {
  if (hasList) return '/';
  const [first = [], ...others] = [...folders, ...images.map(({ path }) => dirname(path))].map(
    (folder) => folder.split('/'),
  );
  const end = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return `${(end < 0 ? first : first.slice(0, end)).join('/')}/`;
}
