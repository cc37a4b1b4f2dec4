/** Pictures in folders by what they show, and back: real files, killed processes, another file system. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Named } from '../../../src/cli/run/named-files.js';
import {
  askToMove,
  continueMove,
  sortPictures,
  undoSort,
} from '../../../src/cli/run/sort-pictures.js';
import type { Sort } from '../../../src/cli/run/sort-ways.js';
import type { Terminal } from '../../../src/cli/terminal.js';
import type { ExportedImage } from '../../../src/export/export-source.js';
import { PROJECT_ROOT } from '../../support/service-process.js';

const scratch = mkdtempSync(join(tmpdir(), 'lattice-sort-'));
/** In memory, where there is such a folder: another file system than that of the photos. */
const otherDisk = existsSync('/dev/shm') ? mkdtempSync('/dev/shm/lattice-sort-') : null;
const isOther = otherDisk !== null && statSync(otherDisk).dev !== statSync(scratch).dev;
afterAll(() => {
  rmSync(scratch, { recursive: true });
  if (otherDisk !== null) rmSync(otherDisk, { recursive: true });
});

let photos: string;
let run: string;
let told: { out: string[]; err: string[]; code: number };
let terminal: Terminal;

beforeEach(() => {
  photos = mkdtempSync(join(scratch, 'photos-'));
  run = join(photos, 'lattice-run');
  mkdirSync(run);
  told = { out: [], err: [], code: 0 };
  terminal = {
    out: (line: string) => told.out.push(line),
    err: (line: string) => told.err.push(line),
    setExitCode: (code: number) => (told.code = code),
  } as unknown as Terminal;
});

/** Path beneath the photos -> the classes of its boxes; null: it failed. */
const SHOWN: Record<string, string[] | null> = {
  'a.jpg': ['car'],
  'sub/a.jpg': ['car', 'car'],
  'sub/b ü.jpg': ['car', 'truck'],
  'none.jpg': [],
  'bad.jpg': null,
  'odd.jpg': ['../a/b'],
  'named.jpg': ['empty'],
};
const SORTED = [
  'car/a.jpg',
  'car/sub/a.jpg',
  'empty/none.jpg',
  'empty_/named.jpg',
  'failed/bad.jpg',
  'several/sub/b ü.jpg',
  '__a_b/odd.jpg',
].sort();

function imagesOf(shown = SHOWN): ExportedImage[] {
  return Object.entries(shown).map(([path, classes]) => {
    const image_path = join(photos, path);
    mkdirSync(dirname(image_path), { recursive: true });
    writeFileSync(image_path, `content of ${path}`);
    if (classes === null)
      return { image_path, status: 'error', error: { detail: 'It is damaged.' } };
    const detections = classes.map((name) => {
      return {
        box: [0, 0, 1, 1] as [number, number, number, number],
        confidence: 0.5,
        class: name,
      };
    });
    return { image_path, status: 'ok', image: { width: 1, height: 1 }, detections };
  });
}

async function* pagesOf(images: readonly ExportedImage[]) {
  yield await Promise.resolve(images);
}

const named = (): Named => ({ folders: [photos], images: [], hasList: false, given: [] });
const sort = (way: Sort, images: readonly ExportedImage[]) =>
  sortPictures(run, way, named(), pagesOf(images), terminal);

/** Files beneath a folder, with what they hold. */
function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );
}
const sorted = () => filesIn(join(run, 'sorted'));
const originals = () =>
  Object.fromEntries(
    Object.entries(filesIn(photos)).filter(([path]) => !path.startsWith('lattice-run/')),
  );
const CONTENTS = Object.fromEntries(Object.keys(SHOWN).map((path) => [path, `content of ${path}`]));

describe.each(['link', 'copy', 'move'] as const)('%s', (way) => {
  test('gives each picture the folder of its outcome, with its own folders in it, and is undone', async () => {
    await sort(way, imagesOf());
    expect(Object.keys(sorted()).sort()).toEqual(SORTED);
    expect(sorted()['several/sub/b ü.jpg']).toBe('content of sub/b ü.jpg');
    expect(originals()).toEqual(way === 'move' ? {} : CONTENTS);
    expect(lstatSync(join(run, 'sorted/car/a.jpg')).isSymbolicLink()).toBe(way === 'link');
    if (way === 'link') {
      expect(readlinkSync(join(run, 'sorted/car/sub/a.jpg'))).toBe('../../../../sub/a.jpg');
    }
    expect(told.out[0]).toMatch(
      /^7 images (linked|copied|moved) into \/.*\/lattice-run\/sorted\.$/,
    );
    await undoSort(run, terminal);
    expect(originals()).toEqual(CONTENTS);
    expect(readdirSync(run)).toEqual([]);
    expect(told).toMatchObject({ err: [], code: 0 });
    await expect(undoSort(run, terminal)).rejects.toThrow('No pictures were sorted in');
  });

  test('overwrites nothing', async () => {
    const images = imagesOf();
    mkdirSync(join(run, 'sorted/car'), { recursive: true });
    writeFileSync(join(run, 'sorted/car/a.jpg'), 'of someone else');
    await sort(way, images);
    expect(sorted()).toMatchObject({ 'car/a.jpg': 'of someone else' });
    expect(originals()).toMatchObject({ 'a.jpg': 'content of a.jpg' });
    expect(told.code).toBe(3);
    expect(told.out).toEqual([expect.stringContaining('6 images')]);
    expect(told.err).toEqual([expect.stringMatching(/\/a\.jpg: Another file has its place\.$/)]);
    await undoSort(run, terminal);
    expect(originals()).toEqual(CONTENTS);
    expect(sorted()).toEqual({ 'car/a.jpg': 'of someone else' });
  });
});

test('a second sort by link or copy replaces the first, and leaves what was changed in it', async () => {
  await sort('copy', imagesOf());
  writeFileSync(join(run, 'sorted/empty/none.jpg'), 'edited');
  await sort('link', imagesOf({ 'a.jpg': ['truck'], 'sub/a.jpg': ['car'] }));
  expect(Object.keys(sorted()).sort()).toEqual(['car/sub/a.jpg', 'empty/none.jpg', 'truck/a.jpg']);
});

test('a move is asked for, and closes the run folder until it is undone', async () => {
  const move = { sort: 'move' as const };
  await expect(askToMove(move, terminal)).rejects.toThrow('say --yes');
  const answering = (yes: boolean) => ({ ...terminal, confirm: () => Promise.resolve(yes) });
  await expect(askToMove(move, answering(false))).rejects.toThrow('Nothing was done');
  await askToMove(move, answering(true));
  await askToMove({ ...move, yes: true }, terminal);

  expect(await continueMove(run, 'move', terminal)).toBe(false);
  await sort('move', imagesOf());
  await expect(continueMove(run, undefined, terminal)).rejects.toThrow(
    '--undo-sort moves them back',
  );
  await expect(continueMove(run, 'copy', terminal)).rejects.toThrow('were moved');
  expect(await continueMove(run, 'move', terminal)).toBe(true);
  expect(Object.keys(sorted())).toHaveLength(SORTED.length);
});

test('a picture that is a link, or is gone, is not moved', async () => {
  const images = imagesOf({ 'a.jpg': ['car'], 'gone.jpg': ['car'] });
  rmSync(join(photos, 'gone.jpg'));
  symlinkSync('a.jpg', join(photos, 'link.jpg'));
  const linked = { ...images[0]!, image_path: join(photos, 'link.jpg') };
  await sort('move', [linked, ...images]);
  expect(Object.keys(sorted())).toEqual(['car/a.jpg']);
  expect(told.err).toEqual([
    expect.stringContaining('link.jpg: It is a symbolic link, which is not moved.'),
    expect.stringContaining('gone.jpg: It is at neither place.'),
  ]);
});

test.skipIf(!isOther)(
  'a move to another file system copies, and takes the file away after',
  async () => {
    run = mkdtempSync(join(otherDisk ?? '', 'run-'));
    const images = imagesOf();
    const { mtimeMs } = statSync(join(photos, 'a.jpg'));
    await sort('move', images);
    expect(Object.keys(sorted()).sort()).toEqual(SORTED);
    expect(filesIn(photos)).toEqual({});
    expect(statSync(join(run, 'sorted/car/a.jpg')).mtimeMs).toBeCloseTo(mtimeMs, -1);
    await undoSort(run, terminal);
    expect(filesIn(photos)).toEqual(CONTENTS);
    expect(readdirSync(run)).toEqual([]);
  },
);

test.each(isOther ? [false, true] : [false])(
  'killed at any moment no picture is lost, and the same command goes on (other file system: %s)',
  async (other) => {
    if (other) run = mkdtempSync(join(otherDisk ?? '', 'run-'));
    const many = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, at) => [`${at % 7}/p${at}.jpg`, [`class ${at % 3}`]]),
    );
    imagesOf(many);
    const contents = Object.keys(many).map((path) => `content of ${path}`);
    const expectAll = () => {
      const found = new Set(Object.values({ ...originals(), ...prefixed(sorted()) }));
      expect(contents.filter((content) => !found.has(content))).toEqual([]);
    };
    const program = `
      import { readFileSync } from 'node:fs';
      import { sortPictures, continueMove, undoSort } from '${PROJECT_ROOT}/dist/cli/run/sort-pictures.js';
      const terminal = { out() {}, err: console.error, setExitCode(code) { process.exitCode = code; } };
      const [what, run, photos, images] = JSON.parse(readFileSync(0, 'utf8'));
      console.log('ready');
      if (what === 'undo') await undoSort(run, terminal);
      else if (!(await continueMove(run, 'move', terminal))) {
        const named = { folders: [photos], images: [], hasList: false };
        await sortPictures(run, 'move', named, (async function* () { yield images; })(), terminal);
      }`;
    const images = Object.entries(many).map(([path, classes]) => ({
      image_path: join(photos, path),
      status: 'ok',
      detections: classes.map((name) => ({ class: name })),
    }));
    const call = async (what: string, killAfterMs: number | null) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
      child.stdin.end(JSON.stringify([what, run, photos, images]));
      const closed = once(child, 'close');
      await once(child.stdout, 'data');
      if (killAfterMs !== null) {
        await sleep(killAfterMs);
        child.kill('SIGKILL');
      }
      return ((await closed) as [number | null])[0];
    };
    for (const what of ['move', 'undo']) {
      for (const ms of [3, 15, 40, 90]) {
        await call(what, ms);
        expectAll();
        if (what === 'undo' && !existsSync(join(run, 'sorted.ndjson'))) break;
      }
      if (what === 'move' || existsSync(join(run, 'sorted.ndjson')))
        expect(await call(what, null)).toBe(0);
      const [from, to] = what === 'move' ? [originals(), sorted()] : [sorted(), originals()];
      expect(from).toEqual({});
      expect(Object.values(to).sort()).toEqual([...contents].sort());
    }
    expect(readdirSync(run)).toEqual([]);
  },
  60_000,
);

const prefixed = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`sorted/${path}`, content]));
