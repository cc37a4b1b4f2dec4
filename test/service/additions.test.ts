/** Calls of the service beyond the interface document, over real HTTP: lists, cancel, repeats, pictures, pages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  DEMO,
  detect,
  expectVehicles,
  FEW_THREADS,
  post,
  reached,
  resultOf,
  submit,
  writeEnlarged,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-additions-'));
  await writeEnlarged(join(folder, 'large.png'), 4);
  service = await startService({
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` },
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('the list of jobs', () => {
  test('gives every job once over its pages, newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.push(await submit(service.url));
    const listed: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await call(service.url, `/v1/jobs?limit=3${query}`);
      expect(status).toBe(200);
      expect(body.jobs.length).toBeLessThanOrEqual(3);
      listed.push(...body.jobs.map((job) => job.job_id));
      cursor = body.next_cursor;
      pages += 1;
    } while (cursor !== null);
    expect(pages).toBe(3);
    expect(listed).toEqual([...ids].reverse());
  });

  test('is filtered by status and type', async () => {
    const cars = await submit(service.url, { job_type: 'detect_cars' });
    await reached(service.url, cars, ['completed']);
    const { body } = await call(service.url, '/v1/jobs?status=completed&job_type=detect_cars');
    expect(body.jobs.map((job) => job.job_id)).toEqual([cars]);
    expect((await call(service.url, '/v1/jobs?status=failed')).body).toEqual({
      jobs: [],
      next_cursor: null,
    });
    expect((await call(service.url, '/v1/jobs?status=lost')).status).toBe(422);
  });
});

test('a cancelled job ends failed with code cancelled, once', async () => {
  const id = await submit(service.url, { image_paths: Array(60).fill('large.png') });
  await reached(service.url, id, ['running']);
  const cancelled = await call(service.url, `/v1/jobs/${id}`, { method: 'DELETE' });
  expect(cancelled.status).toBe(200);
  expect(cancelled.body).toMatchObject({
    job_id: id,
    status: 'failed',
    error: { code: 'cancelled' },
  });
  const again = await call(service.url, `/v1/jobs/${id}`, { method: 'DELETE' });
  expect(again).toMatchObject({ status: 409, body: { code: 'job_already_finished' } });
  const { result, error } = await resultOf(service.url, id);
  expect(error.code).toBe('cancelled');
  expect(result.images).toHaveLength(60);
  expect(result.succeeded).toBeLessThan(60);
  // The machine is free again at once.
  expectVehicles((await detect(service.url)).body.detections);
  const { body } = await call(service.url, '/v1/cluster/status');
  expect(body).toMatchObject({ pending_jobs: 0, running_jobs: 0 });
});

test('an Idempotency-Key gives the first job again, and refuses another body', async () => {
  const body = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
  const key = { 'idempotency-key': 'gate 7, 10:00' };
  const together = await Promise.all(
    Array.from({ length: 8 }, () => post(service.url, '/v1/jobs/submit', body, key)),
  );
  expect(together.map(({ status }) => status)).toEqual(Array(8).fill(202));
  expect(new Set(together.map((answer) => answer.body.job_id)).size).toBe(1);
  const replayed = together.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
  expect(replayed).toHaveLength(7);
  const other = await post(service.url, '/v1/jobs/submit', { ...body, priority: 1 }, key);
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
});

describe('a drawn copy', () => {
  const expectDrawn = async (path: string | undefined, width: number, height: number) => {
    const response = await fetch(`${service.url}${path ?? '/absent'}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/jpeg');
    const drawn = sharp(Buffer.from(await response.arrayBuffer()));
    expect(await drawn.metadata()).toMatchObject({ format: 'jpeg', width, height });
    const { data } = await drawn.removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect(data).toHaveLength(width * height * 3);
  };

  test('comes with a synchronous detection', async () => {
    const { body } = await detect(service.url, { annotate: true });
    expectVehicles(body.detections);
    await expectDrawn(body.annotated_url, 640, 480);
  });

  test('comes with each image of a job', async () => {
    const id = await submit(service.url, {
      image_paths: ['shapes.png', 'large.png'],
      annotate: true,
    });
    const { result } = await resultOf(service.url, id);
    await expectDrawn(result.images[0]?.annotated_url, 640, 480);
    await expectDrawn(result.images[1]?.annotated_url, 2560, 1920);
  });

  test('that is not there is 404', async () => {
    expect((await call(service.url, '/v1/annotated/absent.jpg')).status).toBe(404);
    expect((await call(service.url, '/v1/annotated/..%2Fjobs.db')).status).toBe(404);
  });
});

test('the models are listed with the default one ready', async () => {
  const { status, body } = await call(service.url, '/v1/models');
  expect(status).toBe(200);
  expect(body.models).toContainEqual({
    name: 'yolov8n.pt',
    state: 'ready',
    reason: null,
    classes: ['car', 'motorcycle', 'bus', 'truck'],
    device: expect.any(String),
    precision: expect.any(String),
    agreement: expect.toBeOneOf([null, 1]) as number | null,
    digest: expect.any(String) as string,
    input: { width: 640, height: 640 },
    memory_bytes: expect.any(Number) as number,
    licence: 'Apache-2.0',
    bundled: false,
    alias_of: null,
    release: null,
    quantized_from: null,
    confidence_threshold: 0.5,
    is_default: true,
  });
});

test('probes say live and ready', async () => {
  expect(await call(service.url, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await call(service.url, '/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready' },
  });
});

test('metrics count what was done', async () => {
  await detect(service.url);
  const { status, headers, text } = await call(service.url, '/metrics');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('text/plain');
  for (const series of [
    /^lattice_build_info\{.*\} 1$/m,
    /^lattice_http_request_seconds_count\{.*route="\/v1\/inference\/detect".*\} [1-9]/m,
    /^lattice_images_total\{outcome="ok"\} [1-9]/m,
    /^lattice_image_stage_seconds_count\{stage="inference"\} [1-9]/m,
    /^lattice_jobs\{status="running"\} 0$/m,
    /^lattice_jobs_ended_total\{status="completed"\} [1-9]/m,
    /^lattice_queue_images\{class="sync"\} 0$/m,
    /^lattice_ready 1$/m,
    /^lattice_job_images 0$/m,
    /^lattice_oldest_job_seconds 0$/m,
    /^lattice_webhooks_waiting \d+$/m,
  ]) {
    expect(text).toMatch(series);
  }
});

test('the OpenAPI document is served', async () => {
  const { status, body } = await call(service.url, '/openapi.json');
  expect(status).toBe(200);
  expect(body.openapi).toMatch(/^3\.1/);
  expect(body.paths).toHaveProperty(['/v1/stream']);
});

test('the documentation page loads everything that it names from the service', async () => {
  const page = await call(service.url, '/docs');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toContain('text/html');
  const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
  expect(named.length).toBeGreaterThanOrEqual(3);
  for (const path of named) {
    expect(path).toMatch(/^\//);
    const { status, text } = await call(service.url, path!);
    expect(status, path).toBe(200);
    expect(text.length, path).toBeGreaterThan(100);
  }
});
