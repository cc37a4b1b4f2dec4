import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RayWorkers, type RayWorkersOptions } from '../../../src/clusters/ray/ray-workers.js';
import { ConfigError } from '../../../src/settings/config.js';
import { freePort } from './fake-ray-head.js';
import { until } from '../../support/eventually.js';
import { FakeRayDashboard } from './fake-ray-dashboard.js';

const logged: { level: string; message: string; lines?: string }[] = [];
const log = (level: string) => (fields: object, message: string) => {
  logged.push({ level, ...fields, message });
};
const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
const warnings = () => logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
const ups = () =>
  logged.filter(({ message }) => message === 'workers of the cluster are up').length;

const releases: (() => unknown)[] = [];
let folder = '';
let dashboard: FakeRayDashboard;

beforeEach(async () => {
  const parent = mkdtempSync(join(tmpdir(), 'lattice-workers-'));
  folder = join(parent, 'lattice_ray');
  mkdirSync(folder);
  writeFileSync(join(folder, '__init__.py'), '');
  writeFileSync(join(folder, '__main__.py'), 'print("up")\n');
  writeFileSync(join(folder, 'notes.txt'), 'not code');
  dashboard = await FakeRayDashboard.start();
  releases.push(
    () => {
      rmSync(parent, { recursive: true });
    },
    () => dashboard.stop(),
  );
});

afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release();
  logged.length = 0;
});

function workers(options: Partial<RayWorkersOptions> = {}): RayWorkers {
  const made = new RayWorkers({
    dashboard: dashboard.url,
    namespace: 'blue',
    workers: 'auto',
    serviceUrl: 'ws://10.0.0.9:8000',
    command: 'node worker.js',
    env: {},
    tokenFile: '',
    version: '1.2.3',
    connected: () => true,
    logger,
    packageFolder: folder,
    times: { leastBackOff: 20, mostBackOff: 40 },
    ...options,
  });
  releases.push(() => made.close());
  return made;
}

test('the package is uploaded and `up` is run with it', async () => {
  workers({
    workers: '3',
    command: 'node /opt/lattice/dist/worker.js',
    env: { LATTICE_MODELS_DIR: '/models', LATTICE_MODEL_FAMILY: "it's" },
  }).startWorkers();
  await until(() => ups() === 1);
  const [[name, bytes]] = [...dashboard.packages] as [[string, Buffer]];
  expect(name).toMatch(/^_ray_pkg_[0-9a-f]{40}\.zip$/);
  const files = unzipSync(bytes);
  expect(Object.keys(files)).toEqual(['lattice_ray/__init__.py', 'lattice_ray/__main__.py']);
  expect(Buffer.from(files['lattice_ray/__main__.py']!).toString()).toBe('print("up")\n');
  expect(dashboard.jobs).toEqual([
    {
      submission_id: expect.stringMatching(/^lattice-blue-1\.2\.3-\d+$/),
      entrypoint:
        'python -m lattice_ray up --namespace blue --workers 3 --service ws://10.0.0.9:8000 ' +
        "--command 'node /opt/lattice/dist/worker.js' --env LATTICE_MODELS_DIR=/models " +
        `--env 'LATTICE_MODEL_FAMILY=it'\\''s'`,
      runtime_env: { py_modules: [`gcs://${name}`] },
    },
  ]);
  expect(warnings()).toEqual([]);
});

test('an unchanged package is uploaded once, a changed one under another name', async () => {
  const ray = workers();
  const puts = () => dashboard.calls.filter((call) => call.startsWith('PUT')).length;
  ray.startWorkers();
  await until(() => ups() === 1);
  ray.startWorkers();
  await until(() => ups() === 2);
  expect(puts()).toBe(1);
  writeFileSync(join(folder, '__main__.py'), 'print("higher")\n');
  ray.startWorkers();
  await until(() => ups() === 3);
  expect(puts()).toBe(2);
  expect(dashboard.packages.size).toBe(2);
  expect(new Set(dashboard.jobs.map(({ submission_id: id }) => id)).size).toBe(3);
});

test('calls during a start make one more start, never two at a time', async () => {
  const ray = workers();
  ray.startWorkers();
  await until(() => dashboard.jobs.length === 1);
  for (let call = 0; call < 5; call++) ray.startWorkers();
  await until(() => ups() === 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(dashboard.jobs).toHaveLength(2);
  expect(dashboard.mostRunning).toBe(1);
});

test('a job that fails is logged with its last lines and tried again', async () => {
  dashboard.ends.push('FAILED');
  dashboard.logs = Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n');
  workers().startWorkers();
  await until(() => ups() === 1);
  expect(dashboard.jobs).toHaveLength(2);
  const failure = logged.find(({ message }) => message === 'starting workers failed');
  expect(failure?.lines).toMatch(/^line 30\n[^]*\nline 49$/);
  expect(warnings()[1]).toMatch(
    /^The workers cannot be started through http:\/\/\S+: the job lattice-blue-\S+ ended FAILED: line 49\.$/,
  );
});

test('why the last start failed is known until one succeeds, and its owner is named to the next', async () => {
  dashboard.ends.push('FAILED', 'FAILED');
  dashboard.logs =
    'The workers of this namespace belong to the service at ws://other:8000: set LATTICE_RAY_NAMESPACE.\n';
  let connected = false;
  const ray = workers({ connected: () => connected });
  expect(ray.failure).toBeNull();
  ray.startWorkers();
  await until(() => ray.failure !== null);
  expect(ray.failure).toContain('belong to the service at ws://other:8000: set');
  connected = true;
  dashboard.logs = 'something else\n';
  ray.startWorkers();
  await until(() => ups() === 1);
  expect(ray.failure).toBeNull();
  ray.startWorkers();
  await until(() => ups() === 2);
  const told = dashboard.jobs.map(({ entrypoint }) => / --after (\S+)/.exec(entrypoint)?.[1]);
  expect(told).toEqual([undefined, 'ws://other:8000', 'ws://other:8000', undefined]);
});

test('a job that does not end is stopped before the next', async () => {
  dashboard.ends.push('RUNNING');
  workers({ times: { upDeadline: 1_200, leastBackOff: 20, mostBackOff: 40 } }).startWorkers();
  await until(() => dashboard.stopped.length === 1);
  dashboard.ends.length = 0;
  await until(() => ups() === 1);
  expect(dashboard.stopped).toEqual([dashboard.jobs[0]!.submission_id]);
  expect(dashboard.mostRunning).toBe(1);
  expect(warnings().at(-1)).toContain('has not ended in time');
});

test('a cluster that is not connected is left alone until somebody asks again', async () => {
  dashboard.refusal = { status: 500, text: 'Traceback:\n  File "x"\nValueError: full.\n' };
  let connected = false;
  const ray = workers({ connected: () => connected });
  ray.startWorkers();
  await until(() => warnings().length === 1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(warnings()).toEqual([
    `The workers cannot be started through ${dashboard.url}: it answered 500 ValueError: full.`,
  ]);
  connected = true;
  ray.startWorkers();
  await until(() => warnings().length >= 3);
  dashboard.refusal = null;
  await until(() => ups() === 1);
});

test('the token of the cluster is sent, and its lack explained', async () => {
  dashboard.token = 'secret';
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'wrong');
  workers({ tokenFile }).startWorkers();
  await until(() => warnings().length > 0);
  expect(warnings()[0]).toMatch(
    /: it answered 401, LATTICE_RAY_TOKEN_FILE must name a file with the cluster's token\.$/,
  );
  writeFileSync(tokenFile, 'secret\n');
  await until(() => ups() === 1);
});

test('nothing listens, or no package is there: a sentence', async () => {
  workers({ dashboard: `http://127.0.0.1:${await freePort()}` }).startWorkers();
  await until(() => warnings().length > 0);
  expect(warnings()[0]).toMatch(/: it cannot be reached: .*ECONNREFUSED/);
  logged.length = 0;
  workers({ packageFolder: join(folder, 'none') }).startWorkers();
  await until(() => warnings().some((message) => message.includes('lattice_ray is missing from')));
});

test.each([/packages/, /jobs/])(
  'closing does not wait for a silent dashboard: %s',
  async (path) => {
    dashboard.silent = path;
    const ray = workers();
    ray.startWorkers();
    await until(() => dashboard.calls.some((call) => path.test(call)));
    await ray.close();
    expect(warnings()).toEqual([]);
  },
);

test('a dashboard takes nothing from `fetch`, which is why it is not used', async () => {
  const answer = await fetch(`${dashboard.url}/api/jobs/`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(405);
});

test.each([
  '',
  'head:8265',
  'ray://head:10001',
  'http://head:10001',
  'http://head:6379',
  'http://u@h',
])('the dashboard %j is refused', (given) => {
  const open = () => workers({ dashboard: given });
  expect(open).toThrow(ConfigError);
  expect(open).toThrow(/LATTICE_RAY_DASHBOARD=.* name the dashboard .*http:\/\/HOST:8265\.$/);
});
