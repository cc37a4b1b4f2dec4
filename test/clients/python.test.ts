/** `clients/python`, installed from its folder: its unit tests, and against a running service that is killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUOTAS } from '../../src/api/quotas.js';
import { runProgram } from '../../src/cli/python-environment.js';
import { FaultProxy, losesAnswer } from '../support/fault-proxy.js';
import { jsonLines } from '../support/json-lines.js';
import { writeOwnModel } from '../support/own-model.js';
import { writeParkedLot } from '../support/parked-lot.js';
import { installPythonPackage, type InstalledPackage } from '../support/python-package.js';
import { DEMO, FEW_THREADS, PICTURE, writeEnlarged } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';

const TESTS = join(PROJECT_ROOT, 'test/clients');

let installed: InstalledPackage;
let folder: string;

beforeAll(async () => {
  installed = await installPythonPackage();
  folder = mkdtempSync(join(tmpdir(), 'lattice-live-'));
});

afterAll(() => {
  installed[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('the unit tests', async () => {
  const discover = ['-B', '-m', 'unittest', 'discover', '-v', '-s', join(TESTS, 'python')];
  const output = await runProgram(installed.python, discover);
  expect(output).toMatch(/Ran [1-9]\d* tests? in/);
  expect(output).not.toContain('skipped');
});

test('a service that is killed in the midst of a wait', async () => {
  const models = join(folder, 'models');
  writeOwnModel(models);
  await writeEnlarged(join(folder, 'large.png'), 4);
  writeParkedLot(join(folder, 'lot'));
  const options = {
    dataDir: join(folder, 'data'),
    env: { ...FEW_THREADS, LATTICE_MODELS_DIR: models, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` },
  };
  await using first = await startService(options);
  await using proxy = await FaultProxy.open(first.url);
  proxy.faults.push(losesAnswer(first.url));

  const script = ['-B', join(TESTS, 'live.py'), first.url, proxy.url, PICTURE, 'own.pt'];
  const lines = jsonLines(installed.python, script, { cwd: folder });
  const { value: running } = await lines.next();
  expect(running).toMatchObject({ event: 'running' });
  await first.kill('SIGKILL');
  await using second = await startService({
    ...options,
    flags: ['--port', new URL(first.url).port],
  });
  expect(second.url).toBe(first.url);
  const { value: done } = await lines.next();

  const { path, ...sent } = done.boxes as Record<string, unknown[]>;
  expect(path).toHaveLength(6);
  expect(sent).toEqual({ file: path, bytes: path, pillow: path });
  const paths = [...Array<string>(16).fill('large.png'), 'absent.png'];
  const keys = proxy.seen.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([keys[0], keys[0]]);
  expect(done).toMatchObject({
    names: ['shapes.png', 'shapes.png', 'image', 'image.png'],
    own: { model: 'own.pt', counts: { car_ahead: 3, stop_sign: 1 } },
    statuses: ['completed', 'completed'],
    counts: [17, 1],
    paths,
    streamed: paths,
    errors: ['image_not_found'],
    totals: [6],
    rows: 16 * 6,
    counted: [17, 16 * 6],
    csv: expect.stringMatching(/^\.,17,1,0,96,/),
    zipped: [true, true, true],
    page: true,
    events: 'event',
    standing: 0,
    retried: ['failed', running.job_id],
    // Its classes are called otherwise.
    agreed: [16, 0, 16 * 6],
    tried: ['yolov8n.pt', 'own.pt', 'yolov8n.pt', false, ['depot.pt']],
    drawn: [640, 480],
    watched: [2_000, 'paused', ['door']],
    parked: [true, 6, 0, 6, [true, 6, 6]],
    watches: ['paused', 2_000, ['gate'], 'watch_not_found'],
    usage: Object.keys(QUOTAS),
  });
  expect((done.jobs as string[]).slice(2)).toEqual([running.job_id]);
  expect((await lines.next()).done).toBe(true);
});
