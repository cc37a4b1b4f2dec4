/** The output of a start for an operator: a wrong folder by its name, and a log that machines can read. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { detect } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';
import { startWorkerProcess } from '../support/worker-process.js';
import { eventually } from '../support/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-start-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a data folder that is a file is refused by the name of its setting', async () => {
  const dataDir = join(folder, 'file');
  writeFileSync(dataDir, '');
  await expect(startService({ dataDir })).rejects.toThrow(
    /Service ended with 2 .*LATTICE_DATA_DIR: the folder \S+file cannot be/s,
  );
});

test('an image folder that is not there is named', async () => {
  const LATTICE_IMAGE_ROOTS = `${folder}:${join(folder, 'nowhere')}`;
  await expect(startService({ env: { LATTICE_IMAGE_ROOTS } })).rejects.toThrow(
    `image folder ${join(folder, 'nowhere')} cannot be opened: No such file or directory`,
  );
});

test.each([
  ['is not there', () => join(folder, 'no-models'), 'ENOENT'],
  [
    'is a file',
    () => {
      const file = join(folder, 'models');
      writeFileSync(file, '');
      return file;
    },
    'ENOTDIR',
  ],
])(
  'a models folder that %s is told, by service and worker; the bundled models serve',
  async (_what, path, code) => {
    const LATTICE_MODELS_DIR = path();
    await using service = await startService({ env: { LATTICE_MODELS_DIR } });
    const [line] = service.stdout().trimEnd().split('\n');
    const told = {
      level: 'warn',
      modelsDir: LATTICE_MODELS_DIR,
      reason: expect.stringContaining(code) as string,
      msg: expect.stringContaining('LATTICE_MODELS_DIR') as string,
    };
    expect(JSON.parse(line!)).toMatchObject(told);
    const answer = await detect(service.url, { image_path: 'street.jpg' });
    expect(answer).toMatchObject({ status: 200, body: { car_count: 4 } });

    const LATTICE_SERVICE_URL = service.url.replace('http', 'ws');
    const worker = startWorkerProcess({ LATTICE_MODELS_DIR, LATTICE_SERVICE_URL });
    await eventually(() => {
      expect(worker.output()).toContain('\n');
    });
    expect(JSON.parse(worker.output().split('\n')[0]!)).toMatchObject(told);
    worker.kill('SIGKILL');
    await worker.exited;
  },
);

test('standard output is one JSON object per line, with a warning for a mistyped setting', async () => {
  const env = { LATTICE_LOG_LEVEL: 'info', LATTICE_IMAGE_ROOT: folder };
  await using service = await startService({ env });
  expect(await service.kill()).toBe(0);
  const lines = service.stdout().trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { msg: string; unknown?: string[] });
  expect(records.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['detector ready', 'listening', 'stopping', 'stopped']),
  );
  expect(records.find(({ unknown }) => unknown !== undefined)?.unknown).toEqual([
    'LATTICE_IMAGE_ROOT',
  ]);
});

test('a SIGTERM to npm start reaches the service, not only the shell before it', async () => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const project = join(folder, 'project');
  const files = {
    'package.json': JSON.stringify({ private: true, scripts: { start: scripts.start } }),
    'scripts/setup.mjs': '',
    'dist/cli/lattice.js':
      "process.on('SIGTERM', () => { console.log('stopped'); process.exit(0); });" +
      "console.log('serving', ...process.argv.slice(2)); setTimeout(() => {}, 30_000);",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const npm = spawn('npm', ['start', '--silent', '--', '--port', '0'], { cwd: project });
  let printed = '';
  npm.stdout.on('data', (chunk) => (printed += String(chunk)));
  const ended = once(npm, 'close');
  await eventually(() => {
    expect(printed).toBe('serving serve --port 0\n');
  });
  npm.kill();
  expect(await ended).toEqual([0, null]);
  expect(printed).toContain('stopped\n');
});
