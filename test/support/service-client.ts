/** Calls to a running service, and what its bundled model must see in its bundled picture. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { expect } from 'vitest';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { HANG_MS } from './eventually.js';
import { PROJECT_ROOT } from './service-process.js';

export const DEMO = join(PROJECT_ROOT, 'models/demo');
export const PICTURE = join(DEMO, 'shapes.png');

const KNOWN = (
  JSON.parse(readFileSync(join(DEMO, 'shapes.json'), 'utf8')) as {
    boxes: { class: string; box: [number, number, number, number] }[];
  }
).boxes;
const LEAST_OVERLAP = 0.9;

/** Fields of all records: an answer has those of its own, as the test that reads them says. */
export interface Body {
  job_id: string;
  status: string;
  code: string;
  detail: string;
  error: { code: string };
  errors: { detail: string; pointer: string }[];
  request_id: string;
  image_path: string;
  detections: Detection[];
  total_count: number;
  car_count: number;
  annotated_url: string;
  timings_ms: Record<string, number>;
  result: Body;
  images: Body[];
  succeeded: number;
  reused_images: number;
  finished_images: number;
  submitted_at: number;
  started_at: number;
  completed_at: number;
  webhooks: unknown;
  jobs: Body[];
  next_cursor: string | null;
  models: unknown[];
  engine: { in_flight: number };
  pending_jobs: number;
  running_jobs: number;
  openapi: string;
  paths: Record<string, unknown>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Empty when the answer is not JSON. */
  body: Body;
}

/** Resolves once no job has work left, so that none of an earlier test's sends an event any more. */
export async function jobsEnded(url: string, headers: Record<string, string> = {}): Promise<void> {
  const end = Date.now() + HANG_MS;
  while (Date.now() < end) {
    const { body } = await call(url, '/v1/cluster/status', { headers });
    if (body.pending_jobs + body.running_jobs === 0) {
      await sleep(100); // a job's last event follows its end
      return;
    }
    await sleep(20);
  }
  throw new Error(`There are still jobs after ${HANG_MS} ms.`);
}

export async function call(url: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson && text !== '' ? JSON.parse(text) : {}) as Body,
  };
}

/** `body` is sent as it is when it is text, else as JSON. */
export function post(
  url: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(url, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function detect(url: string, body: Record<string, unknown> = {}): Promise<Answer> {
  return post(url, '/v1/inference/detect', { image_path: 'shapes.png', ...body });
}

/** A job over the bundled picture unless `body` says otherwise; gives its id. */
export async function submit(
  url: string,
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const defaults = { job_type: 'batch_detect', image_paths: ['shapes.png'] };
  const answer = await post(url, '/v1/jobs/submit', { ...defaults, ...body }, headers);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.job_id;
}

export async function statusOf(url: string, jobId: string): Promise<Body> {
  return (await call(url, `/v1/jobs/${jobId}/status`)).body;
}

/** Polls until the status is one of `wanted`. */
export async function reached(
  url: string,
  jobId: string,
  wanted: readonly string[],
): Promise<Body> {
  const end = Date.now() + HANG_MS;
  for (;;) {
    const status = await statusOf(url, jobId);
    if (wanted.includes(status.status)) return status;
    if (Date.now() > end) throw new Error(`Job stays as it is: ${JSON.stringify(status)}`);
    await sleep(10);
  }
}

/** The result record, once the job has ended. */
export async function resultOf(url: string, jobId: string): Promise<Body> {
  await reached(url, jobId, ['completed', 'failed']);
  const { status, body } = await call(url, `/v1/jobs/${jobId}/result`);
  expect(status).toBe(200);
  return body;
}

/** The detections are exactly the vehicles of the picture, or those of `classes`, enlarged by `scale`. */
export function expectVehicles(
  detections: readonly Detection[],
  { classes, scale = 1 }: { classes?: string[]; scale?: number } = {},
): void {
  const wanted = KNOWN.filter((known) => classes?.includes(known.class) ?? true);
  expect(detections.map((found) => found.class).sort()).toEqual(
    wanted.map((known) => known.class).sort(),
  );
  for (const known of wanted) {
    const box = known.box.map((side) => side * scale) as Detection['box'];
    const overlaps = detections
      .filter((found) => found.class === known.class)
      .map((found) => intersectionOverUnion(found.box, box));
    expect(Math.max(...overlaps)).toBeGreaterThanOrEqual(LEAST_OVERLAP);
  }
  const scores = detections.map(({ confidence }) => confidence);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
}

/**
 * For tests that must find work still under way, on a machine of any size; jobs get their share of the cores even where
 * the other tests want all of them.
 */
export const FEW_THREADS = { LATTICE_THREADS: '2', LATTICE_JOBS_YIELD: 'false' };

/** The bundled picture enlarged: the same vehicles, and a decoding that takes its time. */
export async function writeEnlarged(file: string, scale: number): Promise<void> {
  await sharp(PICTURE)
    .resize(640 * scale, 480 * scale, { kernel: 'nearest' })
    .png({ compressionLevel: 1 })
    .toFile(file);
}
