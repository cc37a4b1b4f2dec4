/** The folders of pictures of a run, over entries and pictures that the test gives. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeRunPictures } from '../../../src/cli/run/run-pictures.js';
import type { ExportedImage } from '../../../src/export/export-source.js';
import type { PictureSource } from '../../../src/export/pictures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-run-pictures-'));
  mkdirSync(join(folder, 'data'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const terminal = { out: () => undefined, err: () => undefined, setExitCode: () => undefined };
const screen = { ...terminal, isScreen: false, write: () => Promise.resolve() };

const image = (path: string, ...classes: string[]): ExportedImage => ({
  image_path: path,
  status: 'ok',
  image: { width: 640, height: 480 },
  detections: classes.map((name) => ({ class: name, confidence: 0.5, box: [1, 2, 3, 4] })),
});

/** Makes the pictures of the images; gives the paths of those that were asked for. */
async function made(
  images: readonly ExportedImage[],
  changes: Partial<PictureSource> = {},
  most = Infinity,
): Promise<string[]> {
  const asked: string[] = [];
  const stop = new AbortController();
  const source: PictureSource = {
    look: { kind: 'drawn' },
    fileName: (path) => path,
    isShown: () => true,
    // eslint-disable-next-line @typescript-eslint/require-await -- a page is at hand
    pages: async function* () {
      yield images;
    },
    make: (path, { detections }) => {
      asked.push(path);
      if (asked.length >= most) stop.abort();
      const count = source.look.kind === 'crops' ? detections.length : 1;
      return Promise.resolve({ jpegs: Array.from({ length: count }, () => Buffer.from(path)) });
    },
    ...changes,
  };
  const { signal } = stop;
  await writeRunPictures(source, { folder, images: images.length, terminal: screen, signal });
  return asked;
}

const files = (kind: string) =>
  readdirSync(join(folder, kind), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.jpg') || name.includes('.part'))
    .sort();
const text = (name: string) => readFileSync(join(folder, name), 'utf8');

const MANY = Array.from({ length: 20 }, (_, at) => image(`${at % 2}/p${Math.floor(at / 2)}.png`));

test('what an ended call has made is not made again; a table comes at the end', async () => {
  const first = await made(MANY, {}, 7);
  expect(first.length).toBeLessThan(MANY.length);
  expect(files('drawn')).toHaveLength(first.length);
  expect(readdirSync(folder).sort()).toEqual(['data', 'drawn']);
  writeFileSync(join(folder, 'drawn', 'p9.jpg.part-1'), 'half');
  const second = await made(MANY);
  expect([...first, ...second].sort()).toEqual(MANY.map((each) => each.image_path).sort());
  expect(files('drawn')).toHaveLength(MANY.length);
  expect(text('drawn/p3.jpg')).toBe('0/p3.png');
  expect(text('drawn/p3-2.jpg')).toBe('1/p3.png');
  expect(text('drawn.csv').split('\r\n')).toHaveLength(MANY.length + 2);
  const table = text('drawn.csv');
  expect(await made(MANY)).toEqual([]);
  expect(text('drawn.csv')).toBe(table);
});

test('pictures of other boxes, another look, or that are gone are made again', async () => {
  const images = [image('a.jpg', 'car'), image('b.jpg', 'car')];
  await made(images);
  expect(await made([image('a.jpg', 'bus'), images[1]!])).toEqual(['a.jpg']);
  expect(await made(images)).toEqual(['a.jpg']);
  rmSync(join(folder, 'drawn', 'b.jpg'));
  expect(await made(images)).toEqual(['b.jpg']);
  const look = { kind: 'covered', how: 'fill' } as PictureSource['look'];
  expect(await made(images, { look })).toEqual(['a.jpg', 'b.jpg']);
  const blur = { kind: 'covered', how: 'blur' } as PictureSource['look'];
  expect(await made(images, { look: blur })).toEqual(['a.jpg', 'b.jpg']);
});

test('files of images that are no more, or cannot be read now, are removed; those of others stay', async () => {
  const [one, two, three] = ['a.jpg', 'b.jpg', 'c.jpg'].map((path) => image(path, 'car', 'bus'));
  const look = { kind: 'crops' } as const;
  await made([one!, two!, three!], { look });
  expect(files('crops')).toHaveLength(6);
  writeFileSync(join(folder, 'crops', 'car', 'own.jpg'), '');
  const failed: ExportedImage = { image_path: 'c.jpg', status: 'error', error: { detail: 'No.' } };
  await made([two!, failed], { look });
  expect(files('crops')).toEqual(['bus/b-2.jpg', 'car/b-1.jpg', 'car/own.jpg']);
  expect(text('crops.left-out.txt')).toBe('c.jpg: No.\n');
  await made([two!], { look });
  expect(readdirSync(folder)).not.toContain('crops.left-out.txt');
});

test('no name leads out of the folder, and a record that does is not followed', async () => {
  writeFileSync(join(folder, 'outside.jpg'), '');
  const key = '0'.repeat(18);
  const lines = ['../outside.jpg', '/outside.jpg', 'x/../../outside.jpg', '..'];
  writeFileSync(
    join(folder, 'data', 'crops.made'),
    `${lines.map((name) => `${key}\t${name}\n`).join('')}${key}\thalf a li`,
  );
  await made([image('/../../a.jpg', '..', '../..', '/')], { look: { kind: 'crops' } });
  expect(readdirSync(folder).sort()).toEqual(['crops', 'crops.csv', 'data', 'outside.jpg']);
  expect(files('crops')).toEqual(['_/a-1.jpg', '_/a-3.jpg', '___/a-2.jpg']);
});
