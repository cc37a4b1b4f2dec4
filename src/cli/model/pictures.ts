/** Pictures that models are examined on. */
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join, parse, relative, resolve } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { LabelledBox } from '../../models/average-precision.js';
import { readPicture, type Picture } from '../../models/self-check/model-check.js';
import { isPathError, pathFault } from '../../base/path-fault.js';
import { expandPaths, type NamedImage } from '../image-paths.js';
import { UsageError } from '../terminal.js';
import { readLabels } from './label-files.js';

const DEMO = join(PACKAGE_ROOT, 'models', 'demo');
const MOST = 48;
/** With labels: more, as one figure comes of them all, and smaller ones, as all are in memory together. */
const MOST_LABELLED = 128;
const LABELLED_SIDE = 1_280;

export interface Pictures {
  /** As `2 demo pictures`. */
  what: string;
  pictures: Picture[];
  /** Of one of them here, and as a service that has it would name it. */
  path: string;
  served: string;
}

export async function demoPictures(): Promise<Pictures> {
  const names = (await readdir(DEMO)).filter((name) => /\.(jpg|png)$/.test(name)).sort();
  const pictures = await Promise.all(names.map((name) => readPicture(join(DEMO, name))));
  const what = `${pictures.length} demo pictures`;
  return { what, pictures, path: join(DEMO, 'street.jpg'), served: 'street.jpg' };
}

/** At most 48 of an image, a folder or a glob, evenly spread. Rejects with `UsageError` for one that cannot be read. */
export async function ownPictures(images: string): Promise<Pictures> {
  const picked = await someOf(images, MOST);
  const pictures = await Promise.all(picked.map((image) => readNamed(image)));
  const what = pictures.length === 1 ? '1 picture' : `${pictures.length} pictures`;
  const [first] = picked;
  return { what, pictures, path: first?.shown ?? images, served: first?.path ?? images };
}

export interface LabelledPictures {
  pictures: Picture[];
  labels: LabelledBox[][];
}

/** At most 128 of a folder, evenly spread, with their labels. Rejects as `ownPictures` and `readLabels`. */
export async function labelledPictures(
  images: string,
  labels: string,
  names: readonly string[],
): Promise<LabelledPictures> {
  const picked = await someOf(images, MOST_LABELLED);
  const pictures = await Promise.all(picked.map((image) => readNamed(image, LABELLED_SIDE)));
  const folder = resolve(images);
  const photos = pictures.map(({ width, height }, index) => {
    // As the user named it: links may lead out of the folder.
    const { dir, name } = parse(relative(folder, resolve(picked[index]?.shown ?? folder)));
    return { stem: join(dir, name), width, height };
  });
  return { pictures, labels: await readLabels(labels, photos, names) };
}

async function someOf(images: string, most: number): Promise<NamedImage[]> {
  const found = (await expandPaths([images])).images;
  const step = Math.max(1, found.length / most);
  return Array.from(
    { length: Math.min(most, found.length) },
    (_, index) => found[Math.floor(index * step)],
  ).filter((image) => image !== undefined);
}

async function readNamed({ path, shown }: NamedImage, longestSide?: number): Promise<Picture> {
  try {
    await access(path, constants.R_OK);
    return await readPicture(path, longestSide);
  } catch (error) {
    throw new UsageError(
      isPathError(error)
        ? pathFault(error, shown, 'read')
        : `${shown} is no picture, is damaged, or is of a format that is not supported.`,
    );
  }
}
