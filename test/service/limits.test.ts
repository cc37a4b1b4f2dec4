/** Refusals, over real HTTP, and the answers to many correct requests at once. */
import { request } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  DEMO,
  detect,
  expectVehicles,
  FEW_THREADS,
  post,
  submit,
  writeEnlarged,
  type Answer,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const MEBIBYTE = 2 ** 20;
const CONCURRENT = 64;
const ROUNDS = 4;

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-limits-'));
  await writeEnlarged(join(folder, 'double.png'), 2);
  await writeEnlarged(join(folder, 'large.png'), 4);
  service = await startService({ env: { LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` } });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function expectProblem({ status, headers, body }: Answer, wanted: number, code: string): void {
  expect({ status, code: body.code }).toEqual({ status: wanted, code });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body.request_id).toBe(headers.get('x-request-id'));
}

describe('a body', () => {
  const routes = ['/v1/jobs/submit', '/v1/inference/detect'];

  test.each(routes)('of 10 MiB is refused by %s before it is read', async (path) => {
    const answer = await post(service.url, path, `"${'x'.repeat(10 * MEBIBYTE)}"`);
    expectProblem(answer, 413, 'body_too_large');
  });

  test.each(routes)('without a length is refused by %s once it is too long', async (path) => {
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        `${service.url}${path}`,
        { method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
          sent.destroy();
        },
      );
      sent.on('error', reject);
      const chunk = Buffer.alloc(MEBIBYTE, ' ');
      const write = (left: number) => {
        if (left === 0) sent.end();
        else {
          sent.write(chunk, () => {
            write(left - 1);
          });
        }
      };
      write(10);
    });
    expect(status).toBe(413);
  });

  test.each([
    ['not JSON', '{', 400, 'bad_json'],
    ['NaN', '{"image_path":"shapes.png","confidence_threshold":NaN}', 400, 'bad_json'],
    ['nothing', '', 400, 'bad_json'],
    ['100 levels', `${'['.repeat(100)}${']'.repeat(100)}`, 422, 'validation_failed'],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 422, 'validation_failed'],
    ['null', 'null', 422, 'validation_failed'],
    ['a list', '[]', 422, 'validation_failed'],
  ])('of %s is refused', async (_what, body, status, code) => {
    for (const path of routes) expectProblem(await post(service.url, path, body), status, code);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'video/mp4'])(
    'sent as %s is refused',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await post(service.url, '/v1/inference/detect', '{}', headers);
      expectProblem(answer, 415, 'unsupported_media_type');
    },
  );
});

describe('a field', () => {
  test.each([0, 1, 0.5, 1e-9])('confidence_threshold %s is taken', async (value) => {
    const answer = await detect(service.url, { confidence_threshold: value });
    expect(answer.status).toBe(200);
    if (value === 1) expect(answer.body.detections).toEqual([]);
    if (value === 0.5) expectVehicles(answer.body.detections);
  });

  test.each([
    ['confidence_threshold', -1],
    ['confidence_threshold', -1e-9],
    ['confidence_threshold', 1.0000001],
    ['confidence_threshold', '0.5'],
    ['confidence_threshold', true],
    ['image_path', null],
    ['image_path', 7],
    ['image_path', ''],
    ['vehicle_types', 'car'],
    ['vehicle_types', ['zebra']],
    ['vehicle_types', ['bicycle']],
    ['classes', ['zebra']],
    ['deadline_ms', 3_600_000],
    ['model_name', '../x.pt'],
    ['confidence', 0.5],
  ])('%s: %j is refused by the synchronous route, with a pointer to it', async (field, value) => {
    const answer = await detect(service.url, { [field]: value });
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body.errors[0]?.pointer).toMatch(new RegExp(`^#/${field}`));
  });

  test.each([
    ['job_type', 'detect_trains'],
    ['image_paths', []],
    ['image_paths', 'shapes.png'],
    ['image_paths', ['shapes.png', 3]],
    ['priority', -1],
    ['priority', 11],
    ['priority', 1.5],
    ['priority', '5'],
    ['callback_url', 'ftp://example.org/'],
    ['callback_url', 'not a url'],
    ['metadata', 'text'],
    ['metadata', [1]],
    ['images', ['shapes.png']],
  ])('%s: %j is refused by a submission, with a pointer to it', async (field, value) => {
    const body = { job_type: 'detect_cars', image_paths: ['shapes.png'], [field]: value };
    const answer = await post(service.url, '/v1/jobs/submit', body);
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body.errors[0]?.pointer).toMatch(new RegExp(`^#/${field}`));
  });

  test('that is optional may be null: many clients write that for "not given"', async () => {
    const nulls = { model_name: null, confidence_threshold: null, vehicle_types: null };
    const answer = await detect(service.url, nulls);
    expect(answer.status).toBe(200);
    expectVehicles(answer.body.detections);
    const job = { job_type: 'detect_cars', image_paths: ['shapes.png'], ...nulls };
    const more = { priority: null, callback_url: null, metadata: null };
    expect((await post(service.url, '/v1/jobs/submit', { ...job, ...more })).status).toBe(202);
  });

  test('deadline_ms ends a request that is late', async () => {
    const late = await detect(service.url, { image_path: 'double.png', deadline_ms: 1 });
    expectProblem(late, 504, 'deadline_exceeded');
    expect((await detect(service.url, { deadline_ms: 9_000 })).status).toBe(200);
  });

  test('left out although required is refused', async () => {
    expectProblem(await post(service.url, '/v1/inference/detect', {}), 422, 'validation_failed');
    for (const body of [{ job_type: 'detect_cars' }, { image_paths: ['shapes.png'] }]) {
      expectProblem(await post(service.url, '/v1/jobs/submit', body), 422, 'validation_failed');
    }
  });
});

test('a wrong method is 405 and names the right one, an unknown route 404', async () => {
  const wrong = await call(service.url, '/v1/inference/detect');
  expectProblem(wrong, 405, 'method_not_allowed');
  expect(wrong.headers.get('allow')).toBe('POST');
  expectProblem(
    await call(service.url, '/healthz', { method: 'DELETE' }),
    405,
    'method_not_allowed',
  );
  expectProblem(await call(service.url, '/v2/jobs'), 404, 'not_found');
});

test(`${CONCURRENT} mixed requests at once each get their own boxes, beside a job`, async () => {
  const kinds: [
    body: Record<string, unknown>,
    wanted: Parameters<typeof expectVehicles>[1] | string,
  ][] = [
    [{}, {}],
    [{ image_path: 'double.png' }, { scale: 2 }],
    [{ vehicle_types: ['bus'] }, { classes: ['bus'] }],
    [
      { image_path: 'double.png', vehicle_types: ['truck', 'motorcycle'] },
      { classes: ['truck', 'motorcycle'], scale: 2 },
    ],
    [{ vehicle_types: ['car'], max_detections: 3 }, { classes: ['car'] }],
    [{ image_path: 'absent.png' }, 'image_not_found'],
    [{ confidence_threshold: 2 }, 'validation_failed'],
  ];
  const job = await submit(service.url, { image_paths: Array(200).fill('double.png') });
  const one = async (index: number) => {
    const [body, wanted] = kinds[index % kinds.length]!;
    let answer = await detect(service.url, body);
    // A machine too slow for so many at once refuses some: they are asked again.
    while (answer.body.code === 'overloaded') {
      await sleep(100);
      answer = await detect(service.url, body);
    }
    if (typeof wanted === 'string') expect(answer.body.code).toBe(wanted);
    else expectVehicles(answer.body.detections, wanted);
  };
  const clients = Array.from({ length: CONCURRENT }, async (_unused, client) => {
    for (let round = 0; round < ROUNDS; round += 1) await one(client * 5 + round);
  });
  await Promise.all(clients);
  await call(service.url, `/v1/jobs/${job}`, { method: 'DELETE' });
});

test('a full queue answers 429 with a time to come back, and takes jobs again later', async () => {
  await using small = await startService({
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: folder },
    flags: ['--max-queued-jobs', '2'],
  });
  const image_paths = Array(50).fill('large.png');
  const held = [await submit(small.url, { image_paths }), await submit(small.url, { image_paths })];
  const refused = await post(small.url, '/v1/jobs/submit', {
    job_type: 'batch_detect',
    image_paths,
  });
  expectProblem(refused, 429, 'queue_full');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  const sync = await detect(small.url, { image_path: 'double.png' });
  expectVehicles(sync.body.detections, { scale: 2 });
  await call(small.url, `/v1/jobs/${held[0]!}`, { method: 'DELETE' });
  await submit(small.url, { image_paths: ['large.png'] });
});

test('a second service on one data folder refuses to start and names the first, which goes on', async () => {
  const env = { LATTICE_LOG_LEVEL: 'info' };
  const second = startService({ dataDir: service.dataDir, env }).catch(String);
  const told = await second;
  expect(told).toMatch(/ended with 1 before it listened/);
  expect(told).toContain(`${service.dataDir} is in use by process ${service.pid}.`);
  // By then it has loaded no model and requested no workers.
  expect(told).not.toMatch(/detector ready|"level":"(warn|error)"/);
  expect((await detect(service.url)).status).toBe(200);
});
