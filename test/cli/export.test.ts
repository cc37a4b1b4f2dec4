/** `--format` of `lattice job result` and `lattice detect`. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { compose, type Harness, submitted } from '../support/composed-app.js';
import { okOutcome } from '../support/outcomes.js';
import { DEMO } from '../support/service-client.js';
import { run } from './run.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-export-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Messages of a command whose standard output is a screen. */
async function onScreen(...args: string[]): Promise<string> {
  let said = '';
  const say = (line: string): void => {
    said += line;
  };
  const write = () => Promise.reject(new Error('Nothing may be written to the screen.'));
  await runCli(args, { out: say, err: say, write, isScreen: true, setExitCode: () => undefined });
  return said;
}

describe('lattice job result', () => {
  let app: Harness;
  let server: Listening;
  let id: string;

  beforeAll(async () => {
    app = compose();
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    vi.stubEnv('LATTICE_CORE_API_URL', server.url);
  });
  const image_paths = ['a.jpg', 'b.jpg', 'c.jpg'];
  beforeEach(async () => {
    id = await submitted(app, { image_paths });
    await app.jobs.finish(id, [okOutcome(['bus']), okOutcome([]), okOutcome(['Car', 'bus'])]);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.close(0);
  });

  const result = (...args: string[]) => run('job', 'result', id, ...args);

  test('writes to standard output, or to a file that is there when it is complete', async () => {
    const { out, err, code } = await result('--format', 'csv');
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(out.split('\r\n')).toHaveLength(5);
    const file = join(folder, 'boxes.csv');
    expect(await result('--format', 'csv', '-o', file)).toEqual({ out: '', err: '', code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(out);
    const record = await result('--format', 'json');
    expect(JSON.parse(record.out)).toEqual(JSON.parse((await result('--json')).out));
  });

  test('a file that breaks off half-way leaves nothing behind', async () => {
    app.jobs.imagesPerPage = 1;
    app.jobs.brokenPage = app.jobs.pagesRead + 5;
    const before = readdirSync(folder);
    const { err, code } = await result('--format', 'coco', '-o', join(folder, 'half.json'));
    expect(code).toBe(1);
    expect(err).toMatch(/broke the connection off|cannot be reached/);
    expect(readdirSync(folder)).toEqual(before);
    app.jobs.imagesPerPage = Infinity;
  });

  test('a failed job gives what it has, and exit code 1', async () => {
    id = await submitted(app, { image_paths });
    await app.jobs.progress(id, 1);
    await app.jobs.service.cancel(id, null);
    const { out, err, code } = await result('--format', 'coco');
    expect(code).toBe(1);
    expect(err).toBe('2 of 3 images failed and are left out.\n');
    expect(JSON.parse(out)).toMatchObject({ images: [{ id: 1 }], info: { failed_images: 2 } });
  });

  test.each([
    [['--format', 'voc'], /Allowed choices are json, coco, coco-results, csv, yolo/],
    [['-o', 'file'], /-o is the file of --format: name a format/],
    [['--format', 'csv', '--json'], /cannot be used with option '--json'/],
    [['--format', 'csv', '-o', '/nowhere/a.csv'], /There is no folder \/nowhere\./],
  ])('%j is refused', async (args, reason) => {
    const { out, err, code } = await result(...args);
    expect({ out, code }).toEqual({ out: '', code: 2 });
    expect(err).toMatch(reason);
  });

  test('a folder takes no file', async () => {
    const { err, code } = await result('--format', 'csv', '-o', folder);
    expect(code).toBe(2);
    expect(err).toMatch(/is a folder; a file is needed/);
  });

  test('an archive does not go to a terminal', async () => {
    expect(await onScreen('job', 'result', id, '--format', 'yolo')).toMatch(
      /yolo is a zip archive, which a terminal cannot show: name a file with -o/,
    );
    expect(await onScreen('job', 'result', id, '--format', 'parquet')).toMatch(
      /parquet is binary, which a terminal cannot show: name a file with -o/,
    );
  });
});

describe('lattice detect', () => {
  const MODEL = ['--model', 'tiny-v8.pt', '--precision', 'f32'];

  test('writes the same formats; a failed image is named and left out', async () => {
    const photos = join(folder, 'photos');
    mkdirSync(photos);
    copyFileSync(join(DEMO, 'shapes.png'), join(photos, 'one.png'));
    writeFileSync(join(photos, 'two.jpg'), 'no image');
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('lattice-entries-'));
    const { out, err, code } = await run('detect', photos, ...MODEL, '--format', 'coco');
    expect(code).toBe(3);
    expect(err).toMatch(/two\.jpg: .*\(unsupported_image_format\)$/m);
    const dataset = JSON.parse(out) as { categories: { name: string }[]; annotations: object[] };
    expect(dataset).toMatchObject({ images: [{ id: 1, width: 640, height: 480 }] });
    expect(dataset.categories.map(({ name }) => name)).toEqual([
      'car',
      'motorcycle',
      'bus',
      'truck',
    ]);
    expect(dataset.annotations.length).toBeGreaterThan(2);
    // The file that the second reading came from.
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('lattice-entries-'));
    expect(after).toEqual(before);
  });

  test('an archive goes to a file', async () => {
    const file = join(folder, 'labels.zip');
    const { err, code } = await run(
      ...['detect', join(DEMO, 'shapes.png'), ...MODEL, '--format', 'yolo', '-o', file],
    );
    expect({ err, code }).toEqual({ err: '', code: 0 });
    const archive = unzipSync(readFileSync(file));
    expect(Buffer.from(archive['labels/shapes.txt']!).toString()).toMatch(
      /^(\d( \d\.\d{6}){4}\n)+$/,
    );
  });
});
