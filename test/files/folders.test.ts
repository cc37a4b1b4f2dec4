import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Folders } from '../../src/files/folders.js';
import { turnsDuring } from '../support/event-loop.js';
import { holdFolder } from '../support/held-folder.js';

const FILES = 100_000;
/** In memory where there is such a folder: making the files takes seconds on a disk. */
const fastFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

let folder: string;
let first: string;
let second: string;
let folders: Folders;

beforeAll(() => {
  folder = mkdtempSync(join(fastFolder, 'lattice-folders-'));
  [first, second] = [join(folder, 'first'), join(folder, 'second')];
  for (const path of [
    ...['first/day/deep', 'first/many', 'first/.trash', 'first/day/@eaDir', 'first/#recycle'],
    ...['second/day', 'outside'],
  ]) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  for (const [file, text] of [
    ['first/a.jpg', 'four'],
    ['first/B.PNG', ''],
    ['first/notes.txt', ''],
    ['first/.hidden.jpg', ''],
    ['first/day/1.jpg', ''],
    ['first/day/@eaDir/t.jpg', ''],
    ['second/a.jpg', 'longer'],
    ['second/z [1].tif', ''],
    ['second/day/2.jpg', ''],
    ['outside/secret.jpg', ''],
  ] as const) {
    writeFileSync(join(folder, file), text);
  }
  symlinkSync('../outside', join(first, 'link-out'));
  symlinkSync('day', join(first, 'link-in'));
  symlinkSync('a.jpg', join(first, 'link.jpg'));
  execFileSync('sh', ['-c', `seq -f frame-%06g.jpg 0 ${FILES - 1} | xargs touch`], {
    cwd: join(first, 'many'),
  });
  folders = new Folders([first]);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const namesOf = ({ entries }: { entries: { name: string }[] }) => entries.map(({ name }) => name);

describe('one root', () => {
  test('shows folders and images by name, without dot files, other files and links that lead out', async () => {
    const { path, entries, next } = await folders.list('', '', 100);
    expect([path, next]).toEqual(['', null]);
    expect(entries).toMatchObject([
      { name: 'B.PNG', path: 'B.PNG', isFolder: false, status: { bytes: 0 } },
      { name: 'a.jpg', path: 'a.jpg', isFolder: false, status: { bytes: 4 } },
      { name: 'day', path: 'day', isFolder: true },
      { name: 'link-in', path: 'link-in', isFolder: true },
      { name: 'link.jpg', path: 'link.jpg', isFolder: false, status: { bytes: 4 } },
      { name: 'many', path: 'many', isFolder: true },
    ]);
    const age = Date.now() / 1_000 - entries[0]!.status!.modifiedAt;
    expect(age).toBeGreaterThan(-5);
    expect(age).toBeLessThan(120);
  });

  test.each(['day', './day', 'day/', 'day//.'])('%j is the same folder', async (under) => {
    const { path, entries } = await folders.list(under, '', 100);
    expect(path).toBe('day');
    expect(entries.map((entry) => entry.path)).toEqual(['day/1.jpg', 'day/deep']);
  });

  test('a folder behind a link has the paths of the link', async () => {
    const { path, entries } = await folders.list('link-in', '', 100);
    expect(path).toBe('link-in');
    expect(entries.map((entry) => entry.path)).toEqual(['link-in/1.jpg', 'link-in/deep']);
    expect((await folders.list('link-in/deep', '', 10)).entries).toEqual([]);
  });

  test('a folder of thumbnails is shown to who names it', async () => {
    expect(namesOf(await folders.list('day/@eaDir', '', 100))).toEqual(['t.jpg']);
  });

  test('an absolute path gives absolute paths', async () => {
    const { path, entries } = await folders.list(join(first, 'day'), '', 1);
    expect([path, entries[0]!.path]).toEqual([join(first, 'day'), join(first, 'day/1.jpg')]);
  });

  test.each([
    ['..', 'path_not_allowed'],
    ['day/../..', 'path_not_allowed'],
    ['nul\0', 'path_not_allowed'],
    ['/etc', 'path_not_allowed'],
    ['link-out', 'path_not_allowed'],
    ['link-out/deep', 'path_not_allowed'],
    ['absent', 'not_found'],
    ['a.jpg', 'not_found'],
    ['n'.repeat(300), 'not_found'],
    ['*', 'not_found'],
  ])('%j is refused as %s', async (under, code) => {
    await expect(folders.list(under, '', 10)).rejects.toMatchObject({ code });
  });

  test('100,000 files come in pages, each once, without a delay of the event loop', async () => {
    const seen: string[] = [];
    let next: string | null = '';
    let pages = 0;
    let turns = 0;
    // Every page reads the whole folder: the first ones and the last one show it.
    while (next !== null) {
      const listing: ReturnType<Folders['list']> = folders.list('many', next, 1_000);
      const { value: page, turns: beside } = await turnsDuring(listing);
      turns += beside;
      seen.push(...namesOf(page));
      pages += 1;
      next = pages === 3 ? 'frame-098499.jpg' : page.next;
    }
    expect(seen).toHaveLength(4_500);
    expect(new Set(seen).size).toBe(4_500);
    expect([seen[0], seen.at(-1)]).toEqual(['frame-000000.jpg', 'frame-099999.jpg']);
    expect(seen).toEqual([...seen].sort());
    expect(turns / pages).toBeGreaterThan(100);
  });
});

describe('several roots', () => {
  test('are one folder, in which the first root hides what the others have of the same name', async () => {
    const both = new Folders([first, second]);
    const { entries } = await both.list('', '', 100);
    expect(namesOf({ entries })).toEqual([
      ...['B.PNG', 'a.jpg', 'day', 'link-in', 'link.jpg', 'many', 'z [1].tif'],
    ]);
    expect(entries[1]!.status!.bytes).toBe(4);
    expect(namesOf(await both.list('day', '', 100))).toEqual(['1.jpg', '2.jpg', 'deep']);
  });

  test('are paged together', async () => {
    const both = new Folders([first, second]);
    const one = await both.list('', '', 2);
    expect([namesOf(one), one.next]).toEqual([['B.PNG', 'a.jpg'], 'a.jpg']);
    const two = await both.list('', 'a.jpg', 2);
    expect([namesOf(two), two.next]).toEqual([['day', 'link-in'], 'link-in']);
    const three = await both.list('', 'many', 1);
    expect([namesOf(three), three.next]).toEqual([['z [1].tif'], null]);
  });

  test('one that lies in another decides over absolute paths in it', async () => {
    const nested = new Folders([first, join(first, 'day')]);
    const { entries } = await nested.list(join(first, 'day'), '', 10);
    expect(namesOf({ entries })).toEqual(['1.jpg', 'deep']);
  });

  test('that are not there are told', async () => {
    const absent = new Folders([join(folder, 'nowhere')]);
    await expect(absent.list('', '', 10)).rejects.toMatchObject({
      code: 'not_found',
      message: 'None of the image folders exists on the machine of the service.',
    });
  });
});

test('a volume that hangs is given up, other roots are listed meanwhile', async ({ skip }) => {
  const gone = join(folder, 'gone');
  mkdirSync(gone);
  await using held = await holdFolder(gone);
  if (held === null) {
    skip();
    return;
  }
  const folders = new Folders([gone, first], 8_000);
  // As a relative folder may lie in each root, one that hangs leaves all of them unknown.
  const lost = [gone, gone, ''].map((under) =>
    folders.list(under, '', 10).catch((error: unknown) => error),
  );
  const other = folders.list(join(first, 'day'), '', 10);
  const soonest = await Promise.race([...lost, other]);
  expect(soonest).toBe(await other);
  expect(namesOf(await other)).toEqual(['1.jpg', 'deep']);
  for (const error of await Promise.all(lost)) {
    expect(error).toMatchObject({ code: 'volume_unavailable', retryAfterS: 10 });
  }
});

test('more than are in hand at a time wait or are refused', async () => {
  const all = await Promise.all(
    Array.from({ length: 40 }, () =>
      folders.list('day', '', 10).then(
        () => 'listed',
        (error: unknown) => (error as { code: string }).code,
      ),
    ),
  );
  expect(all.filter((each) => each === 'listed')).toHaveLength(32);
  expect(all.filter((each) => each === 'overloaded')).toHaveLength(8);
});
