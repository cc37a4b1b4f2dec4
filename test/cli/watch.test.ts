/** `lattice watch` against a running service. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { takeStill } from '../support/covered-camera.js';
import { eventually } from '../support/eventually.js';
import { FEW_THREADS, PICTURE } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { run, type CliRun } from './run.js';

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-watch-cli-'));
  mkdirSync(join(folder, 'gate'));
  service = await startService({ env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: folder } });
});

beforeEach(() => {
  vi.stubEnv('LATTICE_CORE_API_URL', service.url);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const watch = (...args: string[]): Promise<CliRun> => run('watch', ...args);

async function recordOf(name: string): Promise<Record<string, unknown>> {
  const { out, code } = await watch('show', name, '--json');
  expect(code).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

test('a photo that comes into a folder becomes a job that names the watch', async () => {
  const added = await watch('add', 'gate', 'gate', '--settle', '0.1', '--interval', '0.5');
  expect(added).toMatchObject({ code: 0, err: '' });
  expect(added.out).toMatch(/^watch +gate$/m);
  copyFileSync(PICTURE, join(folder, 'gate', 'shapes.png'));
  await eventually(async () => {
    expect((await recordOf('gate')).files).toMatchObject({ submitted: 1, succeeded: 1 });
  });
  const { out } = await run('job', 'list', '--watch', 'gate', '--json');
  expect(JSON.parse(out)).toMatchObject([{ watch: 'gate', finished_images: 1 }]);
  const shown = await watch('show', 'gate');
  expect(shown.out).toMatch(/^images +1 submitted, 1 succeeded, 0 failed$/m);
  expect(shown.out).toMatch(/^lag +\d+\.\d\d s median/m);
});

test('every flag reaches the service', async () => {
  const flags = [
    ...[
      '--type',
      'detect_vehicles',
      '--priority',
      '8',
      '--confidence',
      '0.6',
      '--existing',
      'leave',
    ],
    ...[
      '--settle',
      '2',
      '--interval',
      '10',
      '--batch',
      '7',
      '--max-wait',
      '30',
      '--paused',
      '--camera-health',
      ...['--event-gap', '60'],
    ],
    ...['--schedule', 'mon-wed@06:00-20:00,sat@08:00-12:00', '--metadata', '{"camera":"north"}'],
  ];
  expect(await watch('add', 'yard', 'yard', 'gate/*.jpg', ...flags)).toMatchObject({ code: 0 });
  expect(await recordOf('yard')).toMatchObject({
    state: 'paused',
    paths: ['yard', 'gate/*.jpg'],
    job_type: 'detect_vehicles',
    priority: 8,
    confidence_threshold: 0.6,
    existing: 'leave',
    settle_ms: 2_000,
    interval_ms: 10_000,
    batch: { max_images: 7, max_wait_s: 30 },
    camera_health: true,
    event_gap_s: 60,
    metadata: { camera: 'north' },
    schedule: [
      { from: '06:00', to: '20:00', days: ['mon', 'tue', 'wed'] },
      { from: '08:00', to: '12:00', days: ['sat'] },
    ],
  });
});

test('a watch is paused, goes on, is listed and is removed', async () => {
  await watch('add', 'door', 'door');
  expect((await watch('pause', 'door')).out).toMatch(/^state +paused/m);
  expect((await watch('resume', 'door')).out).toMatch(/^state +(?:active|listing|away)/m);
  await eventually(async () => {
    const { out } = await watch('list');
    expect(out).toMatch(/^WATCH +STATE +PATHS/);
    expect(out).toMatch(/^door +away +door/m);
  });
  expect(await watch('remove', 'door')).toMatchObject({
    code: 0,
    err: 'door is no longer watched; its jobs stay.\n',
  });
  const names = JSON.parse((await watch('list', '--json')).out) as { name: string }[];
  expect(names.map(({ name }) => name)).not.toContain('door');
});

test('what is wrong is said, with a code that is not 0', async () => {
  const absent = await watch('show', 'absent');
  expect(absent.code).not.toBe(0);
  expect(absent.err).toContain('absent');
  const times = await watch('add', 'late', 'late', '--schedule', 'mon-xyz@06:00-20:00');
  expect(times.code).not.toBe(0);
  expect(times.err).toContain("'xyz' is none of");
  await watch('add', 'twice', 'twice', '--paused');
  const twice = await watch('add', 'twice', 'twice');
  expect(twice.code).not.toBe(0);
  expect(twice.err).toContain('twice');
});

test('cameras are listed with what is wrong with them', async () => {
  const added = await watch('add', 'lot', 'lot', '--camera-health', '--settle', '0.1');
  expect(added).toMatchObject({ code: 0 });
  expect(await watch('cameras', 'lot')).toMatchObject({
    ...{ code: 0, out: '' },
    err: expect.stringContaining('No picture of a camera yet') as string,
  });
  mkdirSync(join(folder, 'lot'));
  await takeStill(join(folder, 'lot'), 0, false);
  await eventually(async () => {
    expect((await watch('cameras', 'lot')).out).toMatch(/^lot +2025-11-26T14:00:00/m);
  });
  expect(JSON.parse((await watch('cameras', 'lot', '--json')).out)).toMatchObject([
    { camera: 'lot', findings: [] },
  ]);
});
