/** Pictures that models are examined on, and the label files of them. */
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join, parse, relative, resolve } from 'node:path';
import { isPathError, pathFault } from '../../base/path-fault.js';
import type { LabelledBox } from '../../boxes/average-precision.js';
import { DEMO_FOLDER, readDemoPictures } from '../../models/demo-pictures.js';
import { readPicture, type Picture } from '../../models/self-check/model-check.js';
import { expandPaths, type NamedImage } from '../image-paths.js';
import { UsageError } from '../terminal.js';

const MOST = 48;
/**
 * Limits for labelled pictures: more, because one figure comes from all of them, and smaller ones, because all are in
 * memory together.
 */
const MOST_LABELLED = 128;
const LABELLED_SIDE = 1_280;

export interface Pictures {
  /** The pictures in words, for example `2 demo pictures`. */
  what: string;
  pictures: Picture[];
  /** Name of each picture, as the user named it. */
  names: string[];
  /** Path of one of them here; `served` is its path as a service that has it would name it. */
  path: string;
  served: string;
}

export async function demoPictures(): Promise<Pictures> {
  const pictures = await readDemoPictures();
  const what = `${pictures.length} demo pictures`;
  const names = pictures.map((_, index) => `demo picture ${index + 1}`);
  return { what, pictures, names, path: join(DEMO_FOLDER, 'street.jpg'), served: 'street.jpg' };
}

/**
 * Reads at most 48 pictures of an image, a folder or a glob, evenly spread. Rejects with `UsageError` for one that
 * cannot be read.
 */
export async function ownPictures(images: string): Promise<Pictures> {
  const picked = await someOf(images, MOST);
  const pictures = await Promise.all(picked.map((image) => readNamed(image)));
  const what = pictures.length === 1 ? '1 picture' : `${pictures.length} pictures`;
  const [first] = picked;
  const names = picked.map(({ shown }) => shown);
  return { what, pictures, names, path: first?.shown ?? images, served: first?.path ?? images };
}

interface LabelledPictures {
  pictures: Picture[];
  names: string[];
  labels: LabelledBox[][];
}

/**
 * Reads at most 128 pictures of a folder, evenly spread, with their labels. Rejects with the errors of `ownPictures`
 * and `readLabels`.
 */
export async function labelledPictures(
  images: string,
  labels: string,
  names: readonly string[],
): Promise<LabelledPictures> {
  const picked = await someOf(images, MOST_LABELLED);
  const pictures = await Promise.all(picked.map((image) => readNamed(image, LABELLED_SIDE)));
  const folder = resolve(images);
  const photos = pictures.map(({ width, height }, index) => {
    // Named by the path that the user gave, because links may lead out of the folder.
    const { dir, name } = parse(relative(folder, resolve(picked[index]?.shown ?? folder)));
    return { stem: join(dir, name), width, height };
  });
  const shown = picked.map((image) => image.shown);
  return { pictures, names: shown, labels: await readLabels(labels, photos, names) };
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

interface LabelledPhoto {
  /** Path beneath the folder of the photos, without ending; the label file has the same beneath its own. */
  stem: string;
  width: number;
  height: number;
}

/**
 * The labels of each photo; none where it has no file. Class numbers are those of `names`. Rejects with `UsageError`
 * for a file of another form, and where no photo has a file.
 */
async function readLabels(
  folder: string,
  photos: readonly LabelledPhoto[],
  names: readonly string[],
): Promise<LabelledBox[][]> {
  let files = 0;
  const labels = await Promise.all(
    photos.map(async (photo) => {
      const file = join(folder, `${photo.stem}.txt`);
      const text = await textOf(file);
      if (text === null) return [];
      files += 1;
      return boxesOf(file, text, photo, names);
    }),
  );
  if (files > 0) return labels;
  const example = photos[0] === undefined ? folder : join(folder, `${photos[0].stem}.txt`);
  throw new UsageError(`--labels: no photo has a label file, as ${example} would be.`);
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!isPathError(error)) throw error;
    if (error.code === 'ENOENT') return null;
    throw new UsageError(pathFault(error, file, 'read'));
  }
}

function boxesOf(
  file: string,
  text: string,
  { width, height }: LabelledPhoto,
  names: readonly string[],
): LabelledBox[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const numbers = line.trim().split(/\s+/).map(Number);
    const [number = -1, x = 0, y = 0, w = 0, h = 0] = numbers;
    const name = names[number];
    const isBox = numbers.length === 5 && [x, y, w, h].every((part) => part >= 0 && part <= 1);
    if (name === undefined || !isBox) {
      throw new UsageError(
        `${file}, line ${index + 1}: expected \`class x y width height\`, the class a number below ${names.length} ` +
          '(the classes of the model) and the others 0 to 1.',
      );
    }
    const box = [
      (x - w / 2) * width,
      (y - h / 2) * height,
      (x + w / 2) * width,
      (y + h / 2) * height,
    ] as const;
    return [{ class: name, box }];
  });
}
