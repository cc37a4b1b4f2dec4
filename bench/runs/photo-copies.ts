/** Copies photos so that each copy has bytes of its own: what reuses results by content reuses none. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const PER_FOLDER = 1_000;
const PHOTOS = /\.jpe?g$/i;

/** JPEG files of `from` in turn; each copy ends with bytes of its own, which decoders leave aside. */
export async function copyPhotos(from: string, to: string, count: number): Promise<void> {
  const names = await readdir(from, { recursive: true });
  const photos = names.filter((name) => PHOTOS.test(name)).sort();
  if (photos.length === 0) throw new Error(`${from} has no JPEG files.`);
  for (let index = 0; index < count; index += 1) {
    const folder = join(to, String(Math.floor(index / PER_FOLDER)).padStart(4, '0'));
    if (index % PER_FOLDER === 0) await mkdir(folder, { recursive: true });
    const name = photos[index % photos.length]!;
    const bytes = await readFile(join(from, name));
    const copy = Buffer.concat([bytes, Buffer.from(`copy ${index}`)]);
    await writeFile(join(folder, `${index}${extname(name)}`), copy);
  }
}
