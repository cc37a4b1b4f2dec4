/** Every command writes where it is told: one table of commands and of what the named place may be. */
import { execFileSync } from 'node:child_process';
import {
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
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { compose, submitted, type Harness } from '../support/composed-app.js';
import { HeldJobs } from '../support/held-jobs.js';
import { okOutcome } from '../support/outcomes.js';
import { DEMO } from '../support/service-client.js';
import { openTestJobs, specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { run, runOn } from './run.js';

let app: Harness;
let server: Listening;
let jobs: HeldJobs;
let jobId: string;
let folder: string;
const data = new TemporaryFolder();

beforeAll(async () => {
  jobs = await HeldJobs.open();
  app = compose({}, {}, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  vi.stubEnv('LATTICE_CORE_API_URL', server.url);
  jobId = await submitted(app);
  await jobs.finish(jobId, [okOutcome(['bus'])]);
  await using stored = await openTestJobs(data);
  await stored.service.submit(specOf({ imagePaths: ['a.jpg'] }));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-output-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const DETECT = ['detect', join(DEMO, 'shapes.png'), '--model', 'tiny-v8', '--format', 'ndjson'];
const BENCH = [
  ...['bench', '--image', 'a.jpg', '-p', '100', '-s', '100000', '-r', '3'],
  ...['--warmup-request-count', '1'],
];

interface Writer {
  args: (output: string) => string[];
  /** Pattern of every output of the command. */
  content: RegExp;
  /** Said of a folder in the place of a file. */
  ofFolder?: number;
}

const WRITERS: Record<string, Writer> = {
  'detect -o': { args: (file) => [...DETECT, '-o', file], content: /^\{"image_path".*\}\n$/ },
  'job result -o': {
    args: (file) => ['job', 'result', jobId, '--format', 'csv', '-o', file],
    content: /^x_min,[^]*bus[^]*\r\n$/,
  },
  'job report -o': {
    args: (file) => ['job', 'report', jobId, '-o', file],
    content: /^<!doctype html>[^]*bus[^]*<\/html>\s*$/,
  },
  'job counts -o': {
    args: (file) => ['job', 'counts', jobId, '--format', 'csv', '-o', file],
    content: /^[^]*images[^]*\r?\n$/,
  },
  'places -o': {
    args: (file) => ['places', '--tag', 'none', '--format', 'csv', '-o', file],
    content: /^camera,place,[^]*\r\n$/,
  },
  'openapi -o': { args: (file) => ['openapi', '-o', file], content: /^\{[^]*"openapi"[^]*\}\n$/ },
  'bench --csv': {
    args: (file) => [...BENCH, '--csv', file],
    content: /^concurrency,[^]*\n1,.*\n$/,
  },
  'bench --json': {
    args: (file) => [...BENCH, '--json', file],
    content: /^\{[^]*"load": 1[^]*\}\n$/,
  },
  backup: {
    args: (file) => ['backup', file, '--force', '--data-dir', data.path],
    content: /^backup\.json\0[^]*SHA256SUMS[^]*\0{1024}$/,
    ofFolder: 1,
  },
};

const isRoot = process.getuid?.() === 0;
const text = (file: string) => readFileSync(file, 'latin1');

describe.each(Object.entries(WRITERS))('%s', (_name, { args, content, ofFolder = 2 }) => {
  const write = async (file: string) => {
    expect(await run(...args(file))).toMatchObject({ code: 0 });
  };

  test('makes a file, and leaves nothing else', async () => {
    await write(join(folder, 'f'));
    expect(text(join(folder, 'f'))).toMatch(content);
    expect(readdirSync(folder)).toEqual(['f']);
  });

  test('replaces a file', async () => {
    writeFileSync(join(folder, 'f'), 'old '.repeat(1_000_000));
    await write(join(folder, 'f'));
    expect(text(join(folder, 'f'))).toMatch(content);
    expect(readdirSync(folder)).toEqual(['f']);
  });

  test('writes to a pipe', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe, 'latin1');
    await write(pipe);
    expect(await read).toMatch(content);
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe']);
  });

  test('writes to a device', async ({ skip }) => {
    skip(!isRoot, 'Only root makes devices.');
    // A copy of the null device.
    const device = join(folder, 'device');
    execFileSync('mknod', [device, 'c', '1', '3']);
    await write(device);
    expect(statSync(device).isCharacterDevice()).toBe(true);
    expect(readdirSync(folder)).toEqual(['device']);
  });

  test.each([
    ['a file', true],
    ['nothing yet', false],
  ])('keeps a link to %s, and writes what it leads to', async (_kind, exists) => {
    mkdirSync(join(folder, 'elsewhere'));
    const target = join(folder, 'elsewhere', 'f');
    if (exists) writeFileSync(target, 'old');
    symlinkSync(join('elsewhere', 'f'), join(folder, 'link'));
    symlinkSync('link', join(folder, 'second'));
    await write(join(folder, 'second'));
    expect(text(target)).toMatch(content);
    expect(readlinkSync(join(folder, 'second'))).toBe('link');
    expect(readlinkSync(join(folder, 'link'))).toBe('elsewhere/f');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['f']);
  });

  test('refuses a folder, and a loop of links', async () => {
    mkdirSync(join(folder, 'sub'));
    expect(await run(...args(join(folder, 'sub')))).toMatchObject({
      code: ofFolder,
      err: expect.stringContaining('is a folder') as string,
    });
    symlinkSync('loop', join(folder, 'loop'));
    expect(await run(...args(join(folder, 'loop')))).toMatchObject({ code: ofFolder });
    expect(lstatSync(join(folder, 'loop')).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['loop', 'sub']);
  });

  test('prints to standard output for -, and nothing else there', async () => {
    const { out, code } = await run(...args('-'));
    expect(code).toBe(0);
    expect(out).toMatch(content);
  });
});

describe('a model and a drawn copy', () => {
  const bundled = join(DEMO, '..', 'tiny', 'tiny-v8.onnx');
  const add = (...more: string[]) =>
    run('model', 'add', bundled, '--name', 'depot', '--models-dir', folder, ...more);

  test('a link in the models folder stays, and its target is the new model', async () => {
    const target = join(folder, 'shared.bin');
    writeFileSync(target, 'old');
    symlinkSync('shared.bin', join(folder, 'depot.onnx'));
    expect(await add()).toMatchObject({ code: 1, out: '' });
    expect(text(target)).toBe('old');
    expect(await add('--force')).toMatchObject({ code: 0 });
    expect(readlinkSync(join(folder, 'depot.onnx'))).toBe('shared.bin');
    expect(readFileSync(target).equals(readFileSync(bundled))).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['depot.onnx', 'shared.bin']);
  });

  test('--save writes through links and pipes of its folder, and takes no -', async () => {
    const target = join(folder, 'elsewhere');
    symlinkSync('elsewhere', join(folder, 'shapes.jpg'));
    expect(await run(...DETECT, '--save', folder)).toMatchObject({ code: 0 });
    expect(text(target)).toMatch(/^\xff\xd8/);
    expect(readlinkSync(join(folder, 'shapes.jpg'))).toBe('elsewhere');
    expect(readdirSync(folder).sort()).toEqual(['elsewhere', 'shapes.jpg']);
    expect(await run(...DETECT, '--save', '-')).toMatchObject({ code: 2, out: '' });
  });
});

test('what would be printed twice, or on a screen as an archive, is refused', async () => {
  expect(await run(...BENCH, '--csv', '-', '--json', '-')).toMatchObject({ code: 2, out: '' });
  const backup = await runOn({ isScreen: true }, 'backup', '-', '--data-dir', data.path);
  expect(backup).toMatchObject({ code: 2, out: '' });
});

test('a backup replaces a file by force only, and needs none for a pipe', async () => {
  const backup = (file: string) => run('backup', file, '--data-dir', data.path);
  const file = join(folder, 'f');
  writeFileSync(file, 'old');
  symlinkSync('f', join(folder, 'link'));
  for (const name of ['f', 'link']) {
    expect(await backup(join(folder, name))).toMatchObject({ code: 1, out: '' });
  }
  expect(text(file)).toBe('old');
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const read = readFile(pipe);
  expect(await backup(pipe)).toMatchObject({ code: 0 });
  writeFileSync(join(folder, 'read.tar'), await read);
  expect(await run('restore', join(folder, 'read.tar'), '--check')).toMatchObject({ code: 0 });
});
