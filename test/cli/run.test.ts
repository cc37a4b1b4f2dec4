/** `lattice run` as a process of its own, with the bundled model. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parquetRows } from '../support/parquet-rows.js';
import { photoInSydney, SYDNEY, TAKEN_IN_SYDNEY } from '../support/photo-in-sydney.js';
import { PICTURE } from '../support/service-client.js';
import { doneOf, runCommand, type RunCall } from './run-command.js';

const MODEL = ['--model', 'tiny-v8', '--precision', 'f32'];
/** A result is found again for a file that was not changed in the 2 s before it was read. */
const SETTLED_MS = 2_100;

interface Line {
  image_path: string;
  status: string;
  worker_id?: string;
  error?: { code: string };
}

let folder: string;
let picture: Buffer;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-run-')));
  picture = await sharp(PICTURE).jpeg().toBuffer();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const call = (args: string[], how?: RunCall) => runCommand([...args, ...MODEL], how);

/** A folder with pictures, old enough for their results to be found again. */
async function photos(name: string, count: number): Promise<string> {
  const made = join(folder, name);
  mkdirSync(join(made, 'sub'), { recursive: true });
  for (let at = 0; at < count; at += 1) {
    writeFileSync(join(made, at % 3 === 0 ? 'sub' : '.', `p${at}.jpg`), picture);
  }
  await sleep(SETTLED_MS);
  return made;
}

const resultsOf = (run: string): Line[] =>
  readFileSync(join(run, 'results.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

function countsOf(run: string): Record<string, string>[] {
  const [header = '', ...lines] = readFileSync(join(run, 'counts.csv'), 'utf8')
    .trimEnd()
    .split('\r\n');
  const names = header.split(',');
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])),
  );
}

/** Each picture has one result and is counted once. */
function expectOnce(run: string, count: number): void {
  const paths = resultsOf(run).map(({ image_path: path }) => path);
  expect(paths).toHaveLength(count);
  expect(new Set(paths).size).toBe(count);
  expect(countsOf(run).reduce((sum, { images }) => sum + Number(images), 0)).toBe(count);
}

test('a folder becomes counts by folder and hour and results; the next call runs what is new', async () => {
  const from = await photos('first', 6);
  const run = join(from, 'lattice-run');
  writeFileSync(join(from, 'p7.heic'), 'of a phone');
  const first = await call([from]);
  expect(first).toMatchObject({ code: 0 });
  expect(first.out).toMatch(/^CLASS +BOXES\ncar +\d+\n/);
  expect(first.out).toMatch(/^6 done, 0 failed; [\d.]+ s, [\d.]+ images\/s$/m);
  expect(first.out).toContain(
    `Written: ${run}/report.html, ${run}/counts.csv, ${run}/results.ndjson`,
  );
  expectOnce(run, 6);
  const report = readFileSync(join(run, 'report.html'), 'utf8');
  for (const words of [
    'Report of a run',
    '<h1><bdi>first</bdi></h1>',
    '1 file left out: 1 .heic',
  ]) {
    expect(report).toContain(words);
  }
  expect(countsOf(run)).toMatchObject([
    { folder: from, images: '4', failed_images: '0', 'class_counts.car': '12' },
    { folder: join(from, 'sub'), images: '2', 'class_counts.car': '6' },
  ]);
  expect(countsOf(run)[0]?.hour).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00$/);

  writeFileSync(join(run, 'counts.csv.part-1'), 'of a killed process');
  utimesSync(join(from, 'p1.jpg'), 1e9, 1e9);
  await sleep(SETTLED_MS);
  const again = await call([from, '--format', 'csv', '--format', 'coco']);
  expect(again).toMatchObject({ code: 0 });
  expect(again.out).toMatch(/^6 done \(5 as before\), 0 failed;/m);
  const files = [
    'counts.csv',
    'data',
    'report.html',
    'results.coco.json',
    'results.csv',
    'run.json',
  ];
  expect(readdirSync(run).sort()).toEqual(files);

  const third = await call([from]);
  expect(third.out).toMatch(/^6 done \(6 as before\), 0 failed;/m);
  expectOnce(run, 6);
});

describe('a call that is ended early', () => {
  const JOBS_OF = { LATTICE_MAX_IMAGES_PER_JOB: '4' };
  const COUNT = 60;

  test.each([1, 4, 8])('by SIGKILL at line %i of its progress goes on', async (line) => {
    const from = await photos(`killed-${line}`, COUNT);
    const run = join(from, 'lattice-run');
    const killed = await call([from], { env: JOBS_OF, signal: ['SIGKILL', line] });
    expect(killed.code).toBe(-1);
    const done = doneOf(killed.err).at(-1) ?? 0;
    expect(done).toBeGreaterThan(0);
    expect(readdirSync(run)).toEqual(['data']);
    const next = await call([from], { env: JOBS_OF });
    expect(next).toMatchObject({ code: 0 });
    expectOnce(run, COUNT);
    const [first] = resultsOf(run);
    const ofKilled = resultsOf(run).filter(({ worker_id: id }) => id === first?.worker_id);
    expect(ofKilled.length).toBeGreaterThanOrEqual(done);
  });

  test('by Ctrl-C ends with 130; files that changed since run again, others come in', async () => {
    const from = await photos('stopped', COUNT);
    const run = join(from, 'lattice-run');
    const stopped = await call([from], { env: JOBS_OF, signal: ['SIGINT', 1] });
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain('The same command goes on.');
    expect(readdirSync(run)).toEqual(['data']);
    writeFileSync(join(from, 'p1.jpg'), 'no picture any more');
    rmSync(join(from, 'p2.jpg'));
    copyFileSync(PICTURE, join(from, 'new.png'));
    const next = await call([from], { env: JOBS_OF });
    expect(next).toMatchObject({ code: 3 });
    expectOnce(run, COUNT);
    const failed = resultsOf(run).filter(({ status }) => status === 'error');
    expect(failed).toMatchObject([{ image_path: join(from, 'p1.jpg') }]);
  });

  test('goes on with its own options only', async () => {
    const from = await photos('options', COUNT);
    await call([from], { env: JOBS_OF, signal: ['SIGKILL', 2] });
    const next = await call([from, '--classes', 'bus'], { env: JOBS_OF });
    expect(next).toMatchObject({ code: 0 });
    expect(next.out).not.toContain('car');
    expectOnce(join(from, 'lattice-run'), COUNT);
  });
});

test('pictures of a run that is killed while they are made are made once, and are whole', async () => {
  const from = await photos('pictured', 30);
  const run = join(from, 'lattice-run');
  const KINDS = ['drawn', 'covered', 'crops'] as const;
  const MOST_IN_HAND = 4;
  const flags = ['--drawn', '--crops', '--cover', 'car', '--cover-with', 'fill'];
  const filesOf = (kind: string) =>
    readdirSync(join(run, kind), { recursive: true })
      .map(String)
      .filter((name) => name.includes('.jpg'));
  const whole = (kind: string) =>
    existsSync(join(run, kind)) ? filesOf(kind).filter((name) => name.endsWith('.jpg')) : [];
  const killed = await call([from, ...flags], { killWhen: () => whole('crops').length >= 40 });
  expect(killed.code).toBe(-1);
  expect(readdirSync(run)).not.toContain('run.json');
  const earlier = KINDS.flatMap((kind) => whole(kind).map((name) => join(run, kind, name)));
  expect(earlier.length).toBeGreaterThanOrEqual(40 + 30);
  const times = earlier.map((path) => statSync(path).mtimeMs);
  const next = await call([from, ...flags]);
  expect(next).toMatchObject({ code: 0 });
  for (const kind of KINDS) expect(next.out).toContain(`${run}/${kind}, ${run}/${kind}.csv`);
  // The images that were in hand may have been left without some of their crops.
  const again = earlier.filter((path, at) => statSync(path).mtimeMs !== times[at]);
  const stems = again.map((path) => basename(path).replace(/-\d+\.jpg$/, ''));
  expect(new Set(stems).size).toBeLessThanOrEqual(MOST_IN_HAND);
  for (const kind of KINDS) {
    const table = readFileSync(join(run, `${kind}.csv`), 'utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1);
    expect(filesOf(kind).sort()).toEqual(table.map((row) => row.split(',')[0] ?? '').sort());
    expect(table).toHaveLength(kind === 'crops' ? whole(kind).length : 30);
    for (const name of filesOf(kind)) await sharp(join(run, kind, name)).stats();
  }
  const made = KINDS.flatMap((kind) => whole(kind).map((name) => join(run, kind, name)));
  const madeAt = () => made.map((path) => statSync(path).mtimeMs);
  const before = madeAt();
  expect(await call([from, ...flags])).toMatchObject({ code: 0 });
  expect(madeAt()).toEqual(before);
});

test.each([
  [['--cover', 'person'], /no class 'person'/],
  [['--cover', 'bus', '--classes', 'car'], /'bus' were not asked for/],
  [['--cover-with', 'blur'], /--cover/],
  [['--margin', '0.2'], /--margin/],
])('%j covers nothing and is refused before the first picture', async (flags, reason) => {
  const from = join(folder, 'uncovered');
  mkdirSync(from, { recursive: true });
  writeFileSync(join(from, 'p.jpg'), picture);
  const { code, err } = await call([from, ...flags]);
  expect(code).toBe(2);
  expect(err).toMatch(reason);
});

test('a damaged picture fails with its reason, and the others are done: exit code 3', async () => {
  const from = await photos('damaged', 3);
  for (let at = 0; at < 15; at += 1) writeFileSync(join(from, `bad${at}.jpg`), 'no picture');
  writeFileSync(join(from, 'other.heic'), '');
  const { out, err, code } = await call([from]);
  expect(code).toBe(3);
  expect(out).toContain('3 done, 15 failed;');
  expect(out).toMatch(/bad0\.jpg: the file holds text.*\(unsupported_image_format\)$/m);
  expect(out).toMatch(/^ {2}and 5 more$/m);
  expect(err).toContain('1 file left out: 1 .heic.');
});

test('a list on standard input, each file once and as it is named', async () => {
  const from = await photos('listed', 4);
  const out = join(folder, 'of-list');
  const list = [join(from, 'p1.jpg'), '', join(from, 'sub', 'p0.jpg'), join(from, 'gone.jpg')];
  const input = `${[...list, list[0]].join('\n')}\n`;
  const given = await call(['-', '--out', out], { input });
  expect(given.code).toBe(3);
  expect(resultsOf(out).map(({ image_path: path }) => path)).toEqual(list.filter(Boolean));
  expect(resultsOf(out).at(-1)).toMatchObject({ error: { code: 'image_not_found' } });
});

test('a run folder that cannot be written, and folders without pictures, are refused', async () => {
  const from = await photos('refused', 1);
  const file = join(from, 'p0.txt');
  writeFileSync(file, '');
  const refused = await call([from, '--out', join(file, 'run')]);
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('--out names a folder for the run.');
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  expect(await call([empty])).toMatchObject({ code: 2, err: 'lattice: There are no images.\n' });
  const absent = join(folder, 'nowhere');
  const nowhere = await call([from, absent]);
  expect(nowhere).toMatchObject({ code: 2, out: '' });
  expect(nowhere.err).toContain(absent);
  expect(existsSync(join(from, 'lattice-run'))).toBe(false);
});

test('too many failures end the run', async () => {
  const from = await photos('failing', 30);
  for (let at = 0; at < 60; at += 1) writeFileSync(join(from, `a${at}.jpg`), 'no picture');
  const ended = await call([from, '--max-failure-share', '0.5']);
  expect(ended).toMatchObject({ code: 3, out: '' });
  expect(ended.err).toMatch(
    /^\d+ of \d+ images failed, which is more than --max-failure-share 0.5\.$/m,
  );
});

test('no result of a run says where its picture was taken where positions are off, also none that is taken over', async () => {
  const from = await photos('unplaced', 1);
  writeFileSync(join(from, 'sydney.jpg'), await photoInSydney());
  await sleep(SETTLED_MS);
  const placed = () => resultsOf(join(from, 'lattice-run')).filter((line) => 'latitude' in line);
  expect(await call([from])).toMatchObject({ code: 0 });
  expect(placed()).toHaveLength(1);
  expect(await call([from], { env: { LATTICE_POSITIONS: 'off' } })).toMatchObject({ code: 0 });
  expect(placed()).toEqual([]);
});

test('pictures with a position are on a map and keep it when they are taken over; the run is sorted and undone', async () => {
  const from = await photos('sorted', 2);
  const run = join(from, 'lattice-run');
  writeFileSync(join(from, 'sydney.jpg'), await photoInSydney());
  writeFileSync(join(from, 'broken.jpg'), 'no image');
  await sleep(SETTLED_MS);
  const formats = ['ndjson', 'geojson', 'parquet'].flatMap((each) => ['--format', each]);
  const expectMap = () => {
    const results = new Map(resultsOf(run).map((line) => [line.image_path, line]));
    expect(results.get(join(from, 'sydney.jpg'))).toMatchObject({
      ...SYDNEY,
      taken_at: TAKEN_IN_SYDNEY,
    });
    expect(results.get(join(from, 'p1.jpg'))).not.toHaveProperty('latitude');
    expect(JSON.parse(readFileSync(join(run, 'results.geojson'), 'utf8'))).toMatchObject({
      features: [
        {
          geometry: { coordinates: [SYDNEY.longitude, SYDNEY.latitude] },
          properties: { image_path: join(from, 'sydney.jpg'), taken_at: TAKEN_IN_SYDNEY },
        },
      ],
      images_without_position: 2,
      failed_images: 1,
    });
  };
  const first = await call([from, '--sort', 'link', ...formats]);
  expect(first).toMatchObject({ code: 3 });
  expect(first.out).toContain(`4 images linked into ${run}/sorted.`);
  expectMap();
  expect(await parquetRows(readFileSync(join(run, 'results.parquet')))).toContainEqual(
    expect.objectContaining({ image_path: join(from, 'sydney.jpg'), ...SYDNEY }),
  );
  const linked = readdirSync(join(run, 'sorted'), { recursive: true }) as string[];
  expect(linked).toContain('failed/broken.jpg');
  expect(linked.filter((path) => path.endsWith('sub/p0.jpg'))).toHaveLength(1);

  const unasked = await call([from, '--sort', 'move']);
  expect(unasked.code).toBe(1);
  expect(unasked.err).toContain('say --yes');
  const moved = await call([from, '--sort', 'move', '--yes', ...formats]);
  expect(moved).toMatchObject({ code: 3 });
  expect(moved.out).toMatch(/^3 done \(3 as before\), 1 failed;/m);
  expectMap();
  expect(readdirSync(from)).toEqual(['lattice-run', 'sub']);
  const closed = await call([from]);
  expect(closed.code).toBe(2);
  expect(closed.err).toContain('--undo-sort moves them back');
  expectMap();
  const other = await call([from, '--out', join(from, 'other')]);
  expect(other.err).toContain('There are no images.');

  const undone = await call([from, '--undo-sort']);
  expect(undone).toMatchObject({ code: 0, out: '4 images moved back.\n' });
  expect(readdirSync(from)).toEqual([
    ...['broken.jpg', 'lattice-run', 'other', 'p1.jpg', 'sub', 'sydney.jpg'],
  ]);
}, 120_000);
