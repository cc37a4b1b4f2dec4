/** Pictures that models are examined on. */
import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../config.js';
import { readPicture, type Picture } from '../../models/self-check/model-check.js';
import { isPathError, pathFault } from '../../path-fault.js';
import { expandPaths } from '../image-paths.js';
import { UsageError } from '../terminal.js';

const DEMO = join(PACKAGE_ROOT, 'models', 'demo');
const MOST = 48;

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
  const found = (await expandPaths([images])).images;
  const step = Math.max(1, found.length / MOST);
  const picked = Array.from(
    { length: Math.min(MOST, found.length) },
    (_, index) => found[Math.floor(index * step)],
  ).filter((image) => image !== undefined);
  const pictures = await Promise.all(
    picked.map(async ({ path, shown }) => {
      try {
        await access(path, constants.R_OK);
        return await readPicture(path);
      } catch (error) {
        throw new UsageError(
          isPathError(error)
            ? pathFault(error, shown, 'read')
            : `${shown} is no picture, is damaged, or is of a format that is not supported.`,
        );
      }
    }),
  );
  const what = pictures.length === 1 ? '1 picture' : `${pictures.length} pictures`;
  const [first] = picked;
  return { what, pictures, path: first?.shown ?? images, served: first?.path ?? images };
}
