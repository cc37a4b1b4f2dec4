/** Work under way when the process dies: finished once after a restart, and an image that kills it is given up. */
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  call,
  detect,
  expectVehicles,
  FEW_THREADS,
  PICTURE,
  reached,
  resultOf,
  statusOf,
  submit,
  writeEnlarged,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { StreamConnection } from '../stream/stream-connection.js';

let folder: string;
let images: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-recovery-'));
  images = join(folder, 'images');
  dataDir = join(folder, 'data');
  mkdirSync(images);
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function eventsOf(service: ServiceProcess, jobId: string): Promise<string[]> {
  const connection = await StreamConnection.open(service.url);
  const events = ['job_submitted', 'job_started', 'job_completed', 'job_failed'];
  connection.send({ action: 'subscribe', job_ids: [jobId], events, after_seq: 0 });
  await connection.settled();
  await sleep(100);
  const messages = await connection.settled();
  connection.socket.close();
  return messages.filter((message) => message.job_id === jobId).map((message) => message.event);
}

test('a job killed half-way is finished by the next process, each image once and in order', async () => {
  const scale = 3;
  await writeEnlarged(join(images, '0.png'), scale);
  const names = Array.from({ length: 60 }, (_unused, index) => `${index}.png`);
  for (const name of names.slice(1)) linkSync(join(images, '0.png'), join(images, name));
  const env = { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: images };
  const key = { 'idempotency-key': 'once' };
  let id: string;
  {
    await using first = await startService({ dataDir, env });
    id = await submit(first.url, { image_paths: names }, key);
    let finished = 0;
    while (finished < 12) {
      await sleep(5);
      finished = (await statusOf(first.url, id)).finished_images;
    }
    expect(finished).toBeLessThan(60);
    await first.kill('SIGKILL');
  }
  await using second = await startService({ dataDir, env });
  expect(await submit(second.url, { image_paths: names }, key)).toBe(id);
  const { status, error, result } = await resultOf(second.url, id);
  expect({ status, error }).toEqual({ status: 'completed', error: null });
  const entries = result.images;
  expect(entries.map((entry) => entry.image_path)).toEqual(names);
  for (const entry of entries) expectVehicles(entry.detections, { scale });
  expect(result).toMatchObject({ succeeded: 60, failed: 0, total_count: 360, car_count: 180 });
  const events = await eventsOf(second, id);
  expect(events.filter((event) => event === 'job_submitted')).toHaveLength(1);
  expect(events.filter((event) => event === 'job_completed')).toHaveLength(1);
  expect(events.at(-1)).toBe('job_completed');
});

test('an image that kills the process is given up after two deaths, all others are done', async () => {
  const good = Array.from({ length: 30 }, (_unused, index) => `${index}.png`);
  for (const name of [...good, 'poison.png']) copyFileSync(PICTURE, join(images, name));
  const jobs = [
    good.slice(0, 10),
    [...good.slice(10, 17), 'poison.png', ...good.slice(17, 20)],
    good.slice(20),
  ];
  const ids: string[] = [];
  let deaths = 0;
  for (let ended = false; !ended;) {
    await using service = await startAborting();
    for (const paths of jobs.slice(ids.length)) {
      // Idempotent: what was acknowledged or only stored before a death is not submitted twice.
      const headers = { 'idempotency-key': String(ids.length) };
      const id = await submit(service.url, { image_paths: paths }, headers).catch(() => null);
      if (id === null) break;
      ids.push(id);
    }
    const outcome = await Promise.race([service.exited, allEnded(service, ids)]);
    if (outcome === 'ended' && ids.length === jobs.length) {
      await expectOnlyPoisonFailed(service, ids, jobs);
      ended = true;
    } else {
      expect(await service.exited, service.output()).toBe('SIGABRT');
      deaths += 1;
      expect(deaths).toBeLessThanOrEqual(3);
    }
  }
  expect(deaths).toBe(2);
});

test('images of a job are not blamed for deaths that a synchronous request brings', async () => {
  const scale = 3;
  copyFileSync(PICTURE, join(images, 'poison.png'));
  await writeEnlarged(join(images, 'good.png'), scale);
  let id: string | undefined;
  for (let deaths = 0; deaths < 3; deaths += 1) {
    await using service = await startAborting();
    id ??= await submit(service.url, { image_paths: Array(60).fill('good.png') });
    await reached(service.url, id, ['running']);
    await expect(detect(service.url, { image_path: 'poison.png' })).rejects.toThrow();
    expect(await service.exited).toBe('SIGABRT');
  }
  await using service = await startAborting();
  const { status, result } = await resultOf(service.url, id!);
  expect(status).toBe('completed');
  expect(result).toMatchObject({ succeeded: 60, failed: 0 });
  for (const image of result.images) expectVehicles(image.detections, { scale });
});

function startAborting(): Promise<ServiceProcess> {
  return startService({
    dataDir,
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: images },
    script: 'test/support/aborting-service.mjs',
  });
}

/** Resolves once no job is left; never when the service dies before. */
async function allEnded(service: ServiceProcess, ids: readonly string[]): Promise<'ended'> {
  try {
    for (const id of ids) await resultOf(service.url, id);
    return 'ended';
  } catch {
    return new Promise(() => undefined);
  }
}

async function expectOnlyPoisonFailed(
  service: ServiceProcess,
  ids: readonly string[],
  jobs: readonly string[][],
): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const { status, result } = await resultOf(service.url, id);
    expect(status).toBe('completed');
    const entries = result.images;
    expect(entries.map((entry) => entry.image_path)).toEqual(jobs[index]);
    for (const entry of entries) {
      if (entry.image_path === 'poison.png') {
        expect(entry).toMatchObject({ status: 'error', error: { code: 'poison_input' } });
      } else {
        expectVehicles(entry.detections);
      }
    }
    const events = await eventsOf(service, id);
    expect(events.filter((event) => /completed|failed/.test(event))).toEqual(['job_completed']);
  }
  expect((await call(service.url, '/readyz')).status).toBe(200);
  expectVehicles((await detect(service.url, { image_path: '0.png' })).body.detections);
}
