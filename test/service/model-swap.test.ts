/** A running service whose default model is replaced under load, by its routes and by SIGHUP. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '../cli/run.js';
import { eventual, eventually } from '../support/eventually.js';
import {
  Consistency,
  describedDefault,
  load,
  submitMany,
  take,
  TEN_STEPS,
} from '../support/model-swaps.js';
import { call, detect, post, resultOf, statusOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const IMAGES = 150;
/** Requests meet every step, and leave the CPUs to the steps. */
const CALLERS = 4;
const PAUSED = { pauseMs: 150 };

let scratch: string;
let folder: string;
let service: ServiceProcess;

const start = (env: Record<string, string> = {}) =>
  startService({
    dataDir: join(scratch, 'data'),
    env: {
      LATTICE_MODELS_DIR: folder,
      LATTICE_PRECISION: 'f32',
      LATTICE_LOG_LEVEL: 'info',
      ...env,
    },
  });

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-swaps-'));
  folder = join(scratch, 'models');
  mkdirSync(folder);
  take(folder, 'first');
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

const reload = () => call(service.url, '/v1/models/reload', { method: 'POST' });

test('ten replacements under load: no answer is wrong, mixed or failed', async () => {
  service = await start();
  const began = await describedDefault(service.url);
  const stop = new AbortController();
  const consistency = new Consistency();
  const loading = load(service.url, CALLERS, stop.signal, consistency, PAUSED);
  const jobId = await submitMany(service.url, IMAGES);
  await eventual(async () => (await statusOf(service.url, jobId)).finished_images).toBeGreaterThan(
    0,
  );
  for (const step of TEN_STEPS) {
    const before = await describedDefault(service.url);
    take(folder, step);
    await reload();
    const now = await describedDefault(service.url);
    if (step === 'bad') {
      expect(now?.digest).toBe(before?.digest);
      expect(now?.reason).toContain('cannot be used');
    } else
      expect(now).toMatchObject({
        reason: null,
        digest: expect.not.stringMatching(before?.digest ?? ''),
      });
  }
  stop.abort();
  const samples = await loading;
  expect(consistency.faults).toEqual([]);
  expect(consistency.mixed).toEqual([]);
  expect(consistency.byDigest.size).toBe(4);
  expect(samples.length).toBeGreaterThan(10);
  await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
  const { result, models } = await resultOf(service.url, jobId);
  expect(models).toEqual([
    { model: 'yolov8n.pt', model_digest: began?.digest, precision: 'f32', images: IMAGES },
  ]);
  const classes = new Set(
    result.images.flatMap(({ detections }) => detections.map((found) => found.class)),
  );
  expect([...classes].sort()).toEqual(['Lorry', 'car_ahead', 'stop_sign', 'van']);
  const { text } = await call(service.url, '/metrics');
  expect(text).toMatch(/^lattice_model_files\{state="swapped"\} 8$/m);
  expect(text).toMatch(/^lattice_model_files\{state="refused"\} 0$/m);
});

test('results of an earlier model file are not taken over; the command line lets a service take a file, and says why it does not', async () => {
  service = await start();
  const reused = async () => {
    const jobId = await submit(service.url, { reuse: 'unchanged' });
    await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
    return (await statusOf(service.url, jobId)).reused_images;
  };
  const command = () => run('model', 'reload', '--url', service.url);
  expect(await reused()).toBe(0);
  expect(await reused()).toBe(1);
  take(folder, 'second');
  const { code, out } = await command();
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringContaining(`yolov8n.pt  ${(await describedDefault(service.url))?.digest}`),
  });
  expect(await reused()).toBe(0);
  expect(await reused()).toBe(1);
  take(folder, 'bad');
  expect(await command()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^yolov8n\.pt: The file was replaced, and the new one cannot be/),
  });
  take(folder, 'first');
  await reload();
  // Its boxes are as they were.
  expect(await reused()).toBe(1);
});

test('SIGHUP takes changed models and keys, and ends nothing', async () => {
  const keys = join(scratch, 'keys.txt');
  const [old, fresh] = ['an-old-key-of-20-char', 'a-new-key-of-20-chars'];
  writeFileSync(keys, `${old} one\n`);
  service = await start({ LATTICE_API_KEYS_FILE: keys });
  const as = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return post(
      service.url,
      '/v1/inference/detect',
      { image_path: 'shapes.png', classes: ['*'] },
      headers,
    );
  };
  const digestAs = async (key: string) =>
    (await as(key)).body as unknown as { model_digest: string };
  const before = await digestAs(old);
  writeFileSync(keys, `${fresh} two\n`);
  take(folder, 'second');
  process.kill(service.pid, 'SIGHUP');
  await eventually(async () => {
    expect((await as(fresh)).status).toBe(200);
    expect((await digestAs(fresh)).model_digest).not.toBe(before.model_digest);
  });
  expect((await as(old)).status).toBe(401);
  writeFileSync(keys, '');
  process.kill(service.pid, 'SIGHUP');
  await eventual(() => service.stdout()).toContain('cannot be read again');
  expect((await as(fresh)).status).toBe(200);
});

test('a job stays on its model file over a restart; where that is gone it goes on with the present one, and says so', async () => {
  const goesOn = 'it goes on with the present one';
  service = await start();
  const jobId = await submitMany(service.url, IMAGES);
  const finished = async () => (await statusOf(service.url, jobId)).finished_images;
  await eventual(finished).toBeGreaterThan(0);
  const first = await describedDefault(service.url);
  await service.kill('SIGKILL');
  service = await start();
  const before = await finished();
  await eventual(finished).toBeGreaterThan(before);
  expect(service.stdout()).not.toContain(goesOn);
  await service.kill('SIGKILL');
  take(folder, 'second');
  service = await start();
  const second = await describedDefault(service.url);
  await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
  const models = (await resultOf(service.url, jobId)).models as {
    model_digest: string;
    images: number;
  }[];
  expect(models.map(({ model_digest: digest }) => digest).sort()).toEqual(
    [first?.digest, second?.digest].sort(),
  );
  expect(models.reduce((sum, { images }) => sum + images, 0)).toBe(IMAGES);
  expect(service.stdout()).toContain(goesOn);
});

test('worker processes take a reload each, and a job stays on one version', async () => {
  service = await start({ LATTICE_WORKERS: '2' });
  await eventual(async () => (await detect(service.url, { classes: ['*'] })).status).toBe(200);
  const jobId = await submitMany(service.url, IMAGES);
  await eventual(async () => (await statusOf(service.url, jobId)).finished_images).toBeGreaterThan(
    0,
  );
  for (const step of ['second', 'third'] as const) {
    take(folder, step);
    const consistency = new Consistency();
    await reload();
    const stop = new AbortController();
    const loading = load(service.url, CALLERS, stop.signal, consistency, PAUSED);
    await sleep(500);
    stop.abort();
    await loading;
    expect(consistency.faults).toEqual([]);
    expect([...consistency.byDigest.keys()]).toEqual([
      (await describedDefault(service.url))?.digest,
    ]);
  }
  await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
  expect((await resultOf(service.url, jobId)).models).toHaveLength(1);
});
