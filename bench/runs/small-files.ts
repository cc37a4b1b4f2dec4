/** Makes many small pictures, each with bytes of its own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomNumbers } from '../../test/support/random-numbers.js';
import { greyPng } from '../watches/pictures.js';

const SIDE = 32;
const PER_FOLDER = 5_000;
const AT_ONCE = 50;

/** PNG files of random pixels, in folders of 5,000. */
export async function makeSmallFiles(folder: string, count: number, seed: number): Promise<void> {
  const random = randomNumbers(seed);
  const small = () => greyPng(SIDE, SIDE, () => random() * 256);
  for (let from = 0; from < count; from += AT_ONCE) {
    const part = join(folder, String(Math.floor(from / PER_FOLDER)).padStart(4, '0'));
    if (from % PER_FOLDER === 0) await mkdir(part, { recursive: true });
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    await Promise.all(indexes.map((index) => writeFile(join(part, `${index}.png`), small())));
  }
}
