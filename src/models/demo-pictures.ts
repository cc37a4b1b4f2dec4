/** The pictures that come with the service: models are compared on them. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../base/package.js';
import { readPicture, type Picture } from './self-check/model-check.js';

export const DEMO_FOLDER = join(PACKAGE_ROOT, 'models', 'demo');

/** Reads the demo pictures in the order of their names. */
export async function readDemoPictures(): Promise<Picture[]> {
  const names = (await readdir(DEMO_FOLDER)).filter((name) => /\.(jpg|png)$/.test(name)).sort();
  return Promise.all(names.map((name) => readPicture(join(DEMO_FOLDER, name))));
}
