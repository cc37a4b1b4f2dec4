import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expandPaths, rootsOf } from '../../src/cli/image-paths.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-paths-')));
  mkdirSync(join(folder, 'sub'));
  for (const name of ['b.jpg', 'a.PNG', 'c[1].jpg', 'notes.txt', 'sub/d.webp']) {
    writeFileSync(join(folder, name), '');
  }
  symlinkSync(join(folder, 'b.jpg'), join(folder, 'link.jpg'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const names = async (...args: string[]) =>
  (await expandPaths(args.map((arg) => join(folder, arg)))).images.map(({ path }) =>
    path.slice(folder.length + 1),
  );

test('a folder gives its images, subfolders included, by name', async () => {
  expect(await names('.')).toEqual(['a.PNG', 'b.jpg', 'c[1].jpg', 'sub/d.webp']);
});

test('arguments keep their order and each image comes once, links resolved', async () => {
  expect(await names('sub', 'link.jpg', 'b.jpg', '*.{jpg,PNG}')).toEqual([
    'sub/d.webp',
    'b.jpg',
    'a.PNG',
    'c[1].jpg',
  ]);
});

test('a file whose name looks like a glob is a file', async () => {
  expect(await names('c[1].jpg')).toEqual(['c[1].jpg']);
});

test.each(['.', '**', '*/*.jpg'])(
  'of %s, what is no photo is left out, and other pictures counted',
  async (path) => {
    const nas = mkdtempSync(join(tmpdir(), 'lattice-nas-'));
    for (const name of ['@eaDir', '#recycle', 'in']) mkdirSync(join(nas, name));
    for (const name of [
      '@eaDir/t.jpg',
      '#recycle/g.jpg',
      'in/p.jpg',
      'in/q.jpg.heic',
      'in/r.txt',
    ]) {
      writeFileSync(join(nas, name), '');
    }
    const found = await expandPaths([join(nas, path)]);
    expect(found.images.map((image) => image.path)).toEqual([join(realpathSync(nas), 'in/p.jpg')]);
    expect(found.leftOut).toEqual(path === '*/*.jpg' ? {} : { '.heic': 1 });
    rmSync(nas, { recursive: true });
  },
);

test.each(['.', '**', 'z%FCrich', 'z%FCrich/*', 'z%FCrich/%E9.jpg'])(
  'names that are no UTF-8 are given with escapes: %s',
  async (path) => {
    const odd = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-bytes-')));
    const onDisk = (text: string) => Buffer.from(join(odd, text), 'latin1');
    mkdirSync(onDisk('z\xfcrich'));
    writeFileSync(onDisk('z\xfcrich/\xe9.jpg'), '');
    const { images, unreadable } = await expandPaths([join(odd, path)]);
    expect(images.map((image) => image.path)).toEqual([join(odd, 'z%FCrich/%E9.jpg')]);
    expect([unreadable, rootsOf(images)]).toEqual([[], [odd]]);
    rmSync(odd, { recursive: true });
  },
);

test('a missing file is kept, to fail by itself', async () => {
  expect(await names('gone.jpg')).toEqual(['gone.jpg']);
});

test.each(['*.gif', 'sub/*.jpg'])(
  '%s, which matches nothing, is a usage error',
  async (pattern) => {
    await expect(names(pattern)).rejects.toThrow(/No image matches/);
  },
);

test('roots are the folders that hold the images', async () => {
  expect(rootsOf((await expandPaths([folder])).images)).toEqual([folder, join(folder, 'sub')]);
});
