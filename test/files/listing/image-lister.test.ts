import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expandImagePaths } from '../../../src/files/image-paths.js';
import type { Listing } from '../../../src/files/listing/find-images.js';
import { ImageLister } from '../../../src/files/listing/image-lister.js';
import { turnsDuring } from '../../support/event-loop.js';
import { holdFolder } from '../../support/held-folder.js';

const FILES = 60_000;
/** A name that `HOSTILE` takes for ever to tell apart. */
const LONG_NAME = `${'a'.repeat(120)}.jpg`;
const HOSTILE = `trap/${'*a'.repeat(14)}*b.jpg`;

let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'lattice-listing-'));
  for (const folder of ['many', 'few', 'trap']) mkdirSync(join(root, folder));
  for (const name of ['c.jpg', 'a.png', 'b.webp', 'notes.txt']) {
    writeFileSync(join(root, 'few', name), '');
  }
  writeFileSync(join(root, 'trap', LONG_NAME), '');
  for (let from = 0; from < FILES; from += 1_000) {
    const names = Array.from({ length: 1_000 }, (_, index) => `frame-${from + index}.jpg`);
    await Promise.all(names.map((name) => writeFile(join(root, 'many', name), '')));
  }
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const folder = (relative: string, cap = FILES) => ({
  root,
  relative,
  isFolder: true,
  cap,
  withinMs: 10_000,
});
const globOf = (relative: string) => ({ ...folder(relative), isFolder: false });
const list = async (lister: ImageLister, listing: Listing) =>
  (await lister.ask('findImages', listing, listing.withinMs + 3_000)).images;
const FEW = ['few/a.png', 'few/b.webp', 'few/c.jpg'];

test('listings that run at once are each answered', async () => {
  const lister = new ImageLister();
  const [whole, matched, absent] = await Promise.all([
    list(lister, folder('few')),
    list(lister, globOf('few/*.{png,jpg}')),
    list(lister, folder('absent')),
  ]);
  expect(whole).toEqual(FEW);
  expect(matched).toEqual(['few/a.png', 'few/c.jpg']);
  expect(absent).toEqual([]);
});

test('of too many images only one more than the limit is returned', async () => {
  const listed = await list(new ImageLister(), folder('many', 9));
  expect(listed).toHaveLength(10);
  await expect(expandImagePaths(['many'], [root], 9)).rejects.toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer: '#/image_paths' }],
  });
});

test('a glob that blocks the matcher ends in time; the next listing is answered', async () => {
  const lister = new ImageLister();
  const caught = list(lister, { ...globOf(HOSTILE), withinMs: 300 });
  await expect(caught).rejects.toThrow('in time');
  expect(await list(lister, folder('few'))).toEqual(FEW);
});

test.each([
  ['folder', 'many'],
  ['glob', 'many/*.jpg'],
])('a %s of 60,000 images is listed without a delay of the event loop', async (_what, path) => {
  const { value, turns } = await turnsDuring(expandImagePaths([path], [root], FILES));
  expect(value.images).toHaveLength(FILES);
  expect(turns).toBeGreaterThan(100);
});

test('a folder on a hanging volume is given up; others are listed meanwhile', async ({ skip }) => {
  const gone = join(root, 'gone');
  mkdirSync(gone);
  const lister = new ImageLister();
  await using held = await holdFolder(gone);
  if (held === null) {
    skip();
    return;
  }
  // More than there are threads for file calls.
  const lost = Array.from({ length: 8 }, () =>
    list(lister, { ...folder('gone'), withinMs: 500 }).catch((error: unknown) => String(error)),
  );
  expect(await list(lister, { ...folder('few'), withinMs: 20_000 })).toEqual(FEW);
  for (const answer of await Promise.all(lost)) expect(answer).toContain('does not answer');
  expect(await lister.ask('kindOf', { root, relative: 'few' }, 5_000)).toBe('folder');
});

test('a root that hangs delays no other root, and its submits end with volume_unavailable', async ({
  skip,
}) => {
  const lost = join(root, 'lost');
  mkdirSync(join(lost, 'inner'), { recursive: true });
  await using held = await holdFolder(lost);
  if (held === null) {
    skip();
    return;
  }
  const hanging = Array.from({ length: 12 }, () =>
    expandImagePaths(['inner'], [lost], 9).catch((error: unknown) => error),
  );
  for (let round = 0; round < 10; round += 1) {
    expect((await expandImagePaths(['few'], [root], 9)).images).toEqual(FEW);
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  for (const error of await Promise.all(hanging)) {
    expect(error).toMatchObject({ code: 'volume_unavailable', status: 503, retryAfterS: 10 });
  }
});
