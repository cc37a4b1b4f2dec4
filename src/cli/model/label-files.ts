/** Label files in YOLO form, as training sets have them: per photo a text file, per box `class x y width height`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LabelledBox } from '../../models/average-precision.js';
import { isPathError, pathFault } from '../../base/path-fault.js';
import { UsageError } from '../terminal.js';

export interface LabelledPhoto {
  /** Path beneath the folder of the photos, without ending; the label file has the same beneath its own. */
  stem: string;
  width: number;
  height: number;
}

/**
 * The labels of each photo; none where it has no file. Class numbers are those of `names`. Rejects with `UsageError` for a
 * file of another form, and where no photo has a file.
 */
export async function readLabels(
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
