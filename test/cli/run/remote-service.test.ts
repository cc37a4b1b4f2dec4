/** `lattice run --service`: a run at a real service, compared with the same run in its own process. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LatticeClient, type JobStatus } from '../../../src/client/lattice-client.js';
import { FEW_THREADS, PICTURE } from '../../support/service-client.js';
import { startService, type ServiceProcess } from '../../support/service-process.js';
import { doneOf, runCommand, type RunCall } from '../run-command.js';

const KEY = 'run-0123456789abcdef';
const MODEL = ['--model', 'tiny-v8'];
const COUNT = 40;
const FORMATS = ['ndjson', 'csv', 'coco'];
/** A result is found again for a file that was not changed in the 2 s before it was read. */
const SETTLED_MS = 2_100;

let folder: string;
let from: string;
let service: ServiceProcess;
let client: LatticeClient;
let keyFile: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-run-at-')));
  from = join(folder, 'volume', 'photos');
  const picture = await sharp(PICTURE).jpeg().toBuffer();
  mkdirSync(join(from, 'sub'), { recursive: true });
  for (let at = 0; at < COUNT; at += 1) {
    writeFileSync(
      join(from, at % 3 === 0 ? 'sub' : '.', `20251126_14${at + 10}00 [${at}].jpg`),
      picture,
    );
  }
  writeFileSync(join(from, 'broken.jpg'), 'no picture');
  // The reason says so of a file that may still be written.
  utimesSync(join(from, 'broken.jpg'), 1e9, 1e9);
  writeFileSync(join(from, 'other.heic'), '');
  await sleep(SETTLED_MS);
  keyFile = join(folder, 'key');
  writeFileSync(keyFile, KEY);
  writeFileSync(join(folder, 'keys'), `${KEY} Runner\nother-0123456789abcdef Other`);
  service = await startService({
    env: {
      ...FEW_THREADS,
      LATTICE_IMAGE_ROOTS: join(folder, 'volume'),
      LATTICE_API_KEYS_FILE: join(folder, 'keys'),
      LATTICE_MAX_IMAGES_PER_JOB: '4',
      LATTICE_PRECISION: 'f32',
    },
  });
  client = new LatticeClient({ url: service.url, apiKey: KEY });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const formats = FORMATS.flatMap((each) => ['--format', each]);
const outOf = (name: string) => join(folder, name);
const atService = (name: string, args: string[] = [], how?: RunCall) =>
  runCommand(
    [
      from,
      '--out',
      outOf(name),
      ...MODEL,
      '--service',
      service.url,
      '--api-key-file',
      keyFile,
      ...args,
    ],
    how,
  );

async function jobs(): Promise<JobStatus[]> {
  const found: JobStatus[] = [];
  for await (const job of client.list()) found.push(job);
  return found;
}

/** The facts of a results file that do not depend on who has run the images. */
function resultsOf(run: string, ending: string): unknown {
  const text = readFileSync(join(outOf(run), `results.${ending}`), 'utf8');
  if (ending !== 'ndjson') return text;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => ({
      ...(JSON.parse(line) as { image_path: string }),
      ...{ worker_id: null, processing_time_ms: null, timings_ms: null },
    }));
}

/** Words and numbers of the report, without its pictures, times and names of jobs. */
function reportOf(run: string): string[] {
  const page = readFileSync(join(outOf(run), 'report.html'), 'utf8');
  const body = page.slice(page.indexOf('<body'));
  const text = body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toContain('Report of a run');
  const about = ['car', 'sub', 'broken.jpg', '2025-11-26 14:00', 'tiny-v8'];
  return [
    ...about.map((word) => String(text.split(word).length)),
    ...(body.match(/<dd>\d+<\/dd>/g) ?? []),
  ];
}

test('killed and called again it leaves what a run in its own process leaves, and no picture runs twice', async () => {
  const killed = await atService('remote', formats, { signal: ['SIGKILL', 2] });
  expect(killed.code).toBe(-1);
  expect(doneOf(killed.err).at(-1)).toBeGreaterThan(0);
  expect(readdirSync(outOf('remote'))).toEqual(['data']);
  const begun = await jobs();
  const next = await atService('remote', formats);
  expect(next, next.err).toMatchObject({ code: 3 });
  expect(next.out).toContain(`${COUNT} done, 1 failed;`);
  expect(next.out).toMatch(/broken.jpg: the file holds text.*\(unsupported_image_format\)$/m);
  expect(next.err).toContain('1 file left out: 1 .heic.');
  const all = await jobs();
  const ids = all.map(({ job_id: id }) => id);
  expect(ids).toEqual(expect.arrayContaining(begun.map(({ job_id: id }) => id)));
  expect(all.reduce((sum, { image_count: images }) => sum + images, 0)).toBe(COUNT + 1);
  expect(all.every(({ title, kept }) => title === 'photos' && kept)).toBe(true);

  const own = await runCommand([
    from,
    '--out',
    outOf('own'),
    ...MODEL,
    '--precision',
    'f32',
    ...formats,
  ]);
  expect(own).toMatchObject({ code: 3 });
  const lines = ({ out }: { out: string }) =>
    out.split('\n').filter((line) => !/images\/s|^Written/.test(line));
  expect(lines(next)).toEqual(lines(own));
  const files = (run: string) => readdirSync(outOf(run)).sort();
  expect(files('remote')).toEqual(files('own'));
  for (const ending of ['ndjson', 'csv', 'coco.json']) {
    expect(resultsOf('remote', ending), ending).toEqual(resultsOf('own', ending));
  }
  const counts = (run: string) => readFileSync(join(outOf(run), 'counts.csv'), 'utf8');
  expect(counts('remote')).toBe(counts('own').replaceAll(`${join(folder, 'volume')}/`, ''));
  expect(reportOf('remote')).toEqual(reportOf('own'));

  const again = await atService('remote', formats);
  expect(again.out).toContain(`${COUNT} done (${COUNT} as before), 1 failed;`);
  expect(resultsOf('remote', 'csv')).toEqual(resultsOf('own', 'csv'));
  const later = await jobs();
  expect(later.reduce((sum, { image_count: images }) => sum + images, 0)).toBe(COUNT + 1);
  expect(later.some(({ job_id: id }) => ids.includes(id))).toBe(false);
});

const PICTURES = ['--drawn', '--crops', '--cover', 'car', '--cover-with', 'fill'];
const KINDS = ['drawn', 'crops', 'covered'];

/** Contents of the files of pictures and of their tables, by their names. */
function picturesOf(run: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const kind of KINDS) {
    for (const name of readdirSync(outOf(run), { recursive: true }).map(String).sort()) {
      if (!name.startsWith(kind) || !/\.(?:jpg|csv|txt)$/.test(name)) continue;
      found.set(name, readFileSync(join(outOf(run), name)).toString('base64'));
    }
  }
  return found;
}

test('pictures are those of a run in its own process; a killed call goes on with them', async () => {
  const isPictured = () =>
    existsSync(join(outOf('pictured'), 'crops')) && picturesOf('pictured').size > COUNT + 10;
  const killed = await atService('pictured', PICTURES, { killWhen: isPictured });
  expect(killed.code).toBe(-1);
  expect(readdirSync(outOf('pictured'))).not.toContain('run.json');
  const earlier = readdirSync(join(outOf('pictured'), 'drawn')).map((name) =>
    join(outOf('pictured'), 'drawn', name),
  );
  const times = () => earlier.map((path) => statSync(path).mtimeMs);
  const before = times();
  const next = await atService('pictured', PICTURES);
  expect(next, next.err).toMatchObject({ code: 3 });
  for (const kind of KINDS) expect(next.out).toContain(`${outOf('pictured')}/${kind}.left-out.txt`);
  expect(next.err).not.toContain('Without a picture');
  expect(times()).toEqual(before);
  const own = await runCommand([
    ...[from, '--out', outOf('own-pictured')],
    ...[...MODEL, '--precision', 'f32', ...PICTURES],
  ]);
  expect(own).toMatchObject({ code: 3 });
  const made = picturesOf('pictured');
  expect([...made.keys()]).toEqual([...picturesOf('own-pictured').keys()]);
  expect(made).toEqual(picturesOf('own-pictured'));
  expect(made.size).toBeGreaterThan(2 * COUNT);
}, 120_000);

test('an image that cannot be read here is counted as one without a picture', async () => {
  const some = join(folder, 'volume', 'some');
  mkdirSync(some);
  const picture = readFileSync(join(from, '20251126_141100 [1].jpg'));
  for (let at = 0; at < 8; at += 1) writeFileSync(join(some, `p${at}.jpg`), picture);
  const out = outOf('unread');
  const args = [some, '--out', out, ...MODEL, '--service', service.url, '--api-key-file', keyFile];
  const goneAtCrops = () => {
    if (existsSync(join(out, 'crops'))) rmSync(join(some, 'p7.jpg'), { force: true });
    return false;
  };
  const ended = await runCommand([...args, ...PICTURES], { killWhen: goneAtCrops });
  expect(ended, ended.err).toMatchObject({ code: 3 });
  const table = join(out, 'covered.left-out.txt');
  expect(ended.err).toContain(
    `Without a picture in ${out}/covered though it ran: 1. ${table} says`,
  );
  expect(readFileSync(table, 'utf8')).toBe(
    'p7.jpg: "p7.jpg" was not found beneath the image folders\n',
  );
  const refused = await atService('uncovered', [
    ...['--model', 'yolov8n', '--classes', 'car', '--cover', 'bus'],
  ]);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("'bus' were not asked for");
});

test('Ctrl-C leaves the jobs at the service, which is told; too many failures end them', async () => {
  const stopped = await atService('stopped', ['--reuse', 'off'], { signal: ['SIGINT', 1] });
  expect(stopped.code).toBe(130);
  expect(stopped.err).toContain('The jobs go on at the service');
  const bad = join(folder, 'volume', 'bad');
  mkdirSync(bad);
  for (let at = 0; at < 60; at += 1) writeFileSync(join(bad, `a${at}.jpg`), 'no picture');
  const args = [bad, '--out', outOf('bad'), ...MODEL, '--service', service.url];
  const ended = await runCommand([
    ...args,
    '--api-key-file',
    keyFile,
    '--max-failure-share',
    '0.5',
  ]);
  expect(ended).toMatchObject({ code: 3, out: '' });
  expect(ended.err).toMatch(/images failed, which is more than --max-failure-share 0.5\.$/m);
  await expect
    .poll(async () => (await jobs()).filter((job) => job.completed_at === null))
    .toEqual([]);
});

test('a service that is killed meanwhile is waited for; a second call at once is refused', async () => {
  const env = {
    ...FEW_THREADS,
    LATTICE_IMAGE_ROOTS: join(folder, 'volume'),
    LATTICE_MAX_IMAGES_PER_JOB: '4',
  };
  const options = { dataDir: join(folder, 'killed-data'), env };
  const first = await startService(options);
  const run = [from, '--out', outOf('killed'), ...MODEL, '--service', first.url];
  const own = new LatticeClient({ url: first.url });
  const running = runCommand(run);
  const done = async () => {
    let images = 0;
    for await (const job of own.list()) images += job.finished_images;
    return images;
  };
  await expect.poll(done).toBeGreaterThan(0);
  await first.kill('SIGKILL');
  const second = await runCommand(run);
  expect([second.code, second.err]).toEqual([1, expect.stringContaining('is in use by process')]);
  await using again = await startService({
    ...options,
    flags: ['--port', new URL(first.url).port],
  });
  expect(again.url).toBe(first.url);
  const ended = await running;
  expect(ended, ended.err).toMatchObject({ code: 3 });
  expect(ended.out).toContain(`${COUNT} done, 1 failed;`);
  expect(await done()).toBe(COUNT + 1);
});

test('a folder that the service does not read, and flags of this machine, are refused before a job', async () => {
  const before = await jobs();
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'a.jpg'), '');
  const access = ['--service', service.url, '--api-key-file', keyFile];
  const unseen = await runCommand([outside, ...access]);
  expect(unseen.code).toBe(2);
  expect(unseen.err).toContain(
    `does not read ${outside}: An absolute path must lie beneath an image root.`,
  );
  for (const [flags, words] of [
    [['--threads', '2'], '--threads is a setting of this machine'],
  ] as const) {
    const refused = await runCommand([from, ...access, ...flags]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(words)]);
  }
  const keyless = await runCommand([from, '--out', outOf('keyless'), '--service', service.url]);
  expect([keyless.code, keyless.err]).toEqual([1, expect.stringContaining('(unauthorized)')]);
  const alone = await runCommand([from, '--api-key-file', keyFile]);
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--service')]);
  expect((await jobs()).length).toBe(before.length);
});
