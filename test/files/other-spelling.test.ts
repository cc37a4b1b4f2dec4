/** The file that is opened, and the error, where no file has the name of a request. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { OtherSpelling } from '../../src/files/other-spelling.js';

let root: string;
let other: string;
let spelling: OtherSpelling;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-spelling-'));
  other = mkdtempSync(join(tmpdir(), 'lattice-spelling-'));
  mkdirSync(join(root, 'Gate North'));
  for (const name of ['Gate North/IMG_1.JPG', 'Zürich.jpg'.normalize('NFD'), 'É.jpg']) {
    writeFileSync(join(root, name), name);
  }
  mkdirSync(join(other, 'day'));
  writeFileSync(join(other, 'day/2.jpg'), '');
  symlinkSync(other, join(root, 'link'));
  spelling = new OtherSpelling([root, other], 20_000);
});
afterAll(() => {
  for (const folder of [root, other]) rmSync(folder, { recursive: true });
});

/** As the detector opens it. */
const open = (path: string) =>
  spelling.open(path, async (each) => {
    try {
      return await readFile(join(root, each), 'utf8');
    } catch {
      throw new LatticeError('image_not_found', `"${each}" was not found`);
    }
  });

test.each(['NFC', 'NFD'])(
  'a name in %s is opened in the form that it has on the disk',
  async (form) => {
    expect(await open('Zürich.jpg'.normalize(form))).toBe('Zürich.jpg'.normalize('NFD'));
    expect(await open('É.jpg'.normalize(form))).toBe('É.jpg');
  },
);

test.each([
  ['gate north/img_1.jpg', "Did you mean 'Gate North/IMG_1.JPG'?"],
  ['./Gate North//IMG_1.jpg', "Did you mean 'Gate North/IMG_1.JPG'?"],
  ['Gate North\\IMG_1.JPG', "Did you mean 'Gate North/IMG_1.JPG'?"],
  ['ZÜRICH.JPG', `Did you mean '${'Zürich.jpg'.normalize('NFD')}'?`],
  ['DAY/2.jpg', "Did you mean 'day/2.jpg'?"],
  ['C:\\photos\\a.jpg', "Folders are separated by '/', not by '\\'."],
  ['gone.jpg', ''],
  ['link/DAY/2.jpg', "Did you mean 'link/day/2.jpg'?"],
  ['../x/A.jpg', ''],
])('%s: %s', async (path, hint) => {
  await expect(open(path)).rejects.toMatchObject({
    code: 'image_not_found',
    message: `"${path}" was not found${hint === '' ? '' : `. ${hint}`}`,
  });
});

test('an absolute path gets an absolute one', async () => {
  expect(await spelling.similar(join(root, 'gate north/img_1.jpg'))).toBe(
    join(root, 'Gate North/IMG_1.JPG'),
  );
});

test('another error is passed on at once', async () => {
  const opened: string[] = [];
  const refused = spelling.open('é.jpg', (path) => {
    opened.push(path);
    return Promise.reject(new LatticeError('overloaded', 'Later.'));
  });
  await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
  expect(opened).toEqual(['é.jpg']);
});

test('of many at once, one gets a hint', async () => {
  const found = await Promise.all(Array.from({ length: 50 }, () => spelling.similar('GATE NORTH')));
  expect(found.filter((each) => each !== null)).toEqual(['Gate North']);
});
