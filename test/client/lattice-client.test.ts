/** Every call of the client against a running service with API keys. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LatticeClient, ServiceError } from '../../src/client/lattice-client.js';
import { expectVehicles } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const KEY = 'north-gate-0123456789';
const JOB = { job_type: 'batch_detect', image_paths: ['shapes.png'] } as const;
const job = (image_paths: string[] = [...JOB.image_paths]) => ({ ...JOB, image_paths });

let folder: string;
let service: ServiceProcess;
let client: LatticeClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-client-'));
  const file = join(folder, 'keys.txt');
  writeFileSync(file, `${KEY} north\n`);
  service = await startService({ env: { LATTICE_API_KEYS_FILE: file } });
  client = new LatticeClient({ url: `${service.url}/`, apiKey: KEY });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Nothing listens there. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

async function errorOf(call: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

test('detect, models and the cluster', async () => {
  const found = await client.detect({ image_path: 'shapes.png', vehicle_types: ['bus'] });
  expectVehicles(found.detections, { classes: ['bus'] });
  const models = await client.models();
  expect(models.find((model) => model.is_default)?.name).toBe(found.model);
  expect(await client.clusterStatus()).toMatchObject({ cluster_alive: true, pending_jobs: 0 });
});

test('a job from its submission to its result', async () => {
  const metadata = { camera: 'north' };
  const accepted = await client.submit({ ...job(), metadata });
  const ended = await client.waitFor(accepted.job_id);
  expect(ended).toMatchObject({ status: 'completed', image_count: 1, progress: 1 });
  expect(await client.status(accepted.job_id)).toEqual(ended);
  const record = await client.result(accepted.job_id);
  expect(record).toMatchObject({ metadata, error: null, result: { car_count: 3 } });
});

test('submissions with one idempotency key are one job, all others are jobs of their own', async () => {
  const idempotencyKey = 'camera 7';
  const first = await client.submit(job(), { idempotencyKey });
  expect((await client.submit(job(), { idempotencyKey })).job_id).toBe(first.job_id);
  expect((await client.submit(job())).job_id).not.toBe(first.job_id);
});

test('a list goes over all pages, filtered', async () => {
  const since = (await client.submit(job(['absent.png']))).job_id;
  const ids = [since];
  for (let count = 0; count < 4; count += 1) {
    ids.unshift((await client.submit(job(['absent.png']))).job_id);
  }
  await Promise.all(ids.map((id) => client.waitFor(id)));
  const { submitted_at } = await client.status(since);
  const found: string[] = [];
  const filter = { status: ['failed' as const], submitted_after: submitted_at - 0.001 };
  for await (const { job_id } of client.list({ ...filter, limit: 2 })) found.push(job_id);
  expect(found).toEqual(ids);
  for await (const each of client.list({ job_type: 'detect_cars' })) expect(each).toBeUndefined();
});

test('a job of 5,000 images is read as one record', async () => {
  const paths = ['shapes.png', ...Array.from({ length: 4_999 }, (_, at) => `absent/${at}.png`)];
  const { job_id } = await client.submit(job(paths));
  expect((await client.waitFor(job_id)).status).toBe('completed');
  const { result } = await client.result(job_id);
  if (result === null || !('images' in result)) throw new Error('not of several images');
  expect(result.images.map((image) => image.image_path)).toEqual(paths);
  expect(result).toMatchObject({ succeeded: 1, failed: 4_999 });
});

test('a job is changed, found by what was written, and removed', async () => {
  const { job_id } = await client.submit({ ...job(), name: 'Monday', tags: ['north'] });
  await client.waitFor(job_id);
  const edited = await client.edit(job_id, { notes: 'ÜBER the gate', keep: true, name: null });
  expect(edited).toMatchObject({ name: null, title: 'shapes.png', tags: ['north'], keep: true });
  const found: string[] = [];
  for await (const each of client.list({ q: 'über', tag: 'NORTH', sort: 'name' })) {
    found.push(each.job_id);
  }
  expect(found).toEqual([job_id]);
  expect(await client.remove(job_id)).toMatchObject({ job_id });
  expect(await errorOf(client.status(job_id))).toMatchObject({ code: 'job_not_found' });
});

test('a cancelled job has failed, and cannot be cancelled again', async () => {
  const { job_id } = await client.submit(job(Array<string>(500).fill('shapes.png')));
  const cancelled = await client.cancel(job_id);
  expect(cancelled).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  const error = await errorOf(client.cancel(job_id));
  expect(error).toMatchObject({
    code: 'job_already_finished',
    status: 409,
    retryAfterS: undefined,
  });
});

describe('a refusal', () => {
  test('has the fields of the problem', async () => {
    const error = await errorOf(client.submit(job(['shapes.png', '../x.png'])));
    expect(error).toMatchObject({
      name: 'ServiceError',
      code: 'path_not_allowed',
      title: 'Path is outside the image roots',
      status: 422,
      detail: "A path must not contain '..'.",
      message: "A path must not contain '..'.",
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      errors: [{ pointer: '#/image_paths/1' }],
    });
  });

  test('of a job that is not there, or has not ended', async () => {
    for (const id of ['job/x?', '..', 'none']) {
      expect(['job_not_found', 'not_found']).toContain((await errorOf(client.status(id))).code);
      expect(['job_not_found', 'not_found']).toContain((await errorOf(client.waitFor(id))).code);
    }
    const { job_id } = await client.submit(job(Array<string>(200).fill('shapes.png')));
    expect((await errorOf(client.result(job_id))).code).toBe('job_not_finished');
    await client.cancel(job_id);
  });

  test('of a wrong or missing key, by calls and by events', async () => {
    for (const apiKey of ['wrong-gate-0123456789', undefined]) {
      const stranger = new LatticeClient({ url: service.url, apiKey });
      for (const call of [
        () => stranger.models(),
        () => stranger.events().next(),
        () => stranger.waitFor('x'),
      ]) {
        const error = await errorOf(call());
        expect(error).toMatchObject({ code: 'unauthorized', status: 401 });
        expect(error.message).not.toContain('wrong-gate');
      }
    }
  });
});

test('a service that is not there is told with its address, and at once', async () => {
  const url = await closedAddress();
  const gone = new LatticeClient({ url });
  for (const call of [() => gone.models(), () => gone.events().next(), () => gone.submit(job())]) {
    const error = await errorOf(call());
    expect(error).toMatchObject({ code: 'unreachable', status: null });
    expect(error.message).toBe(
      `The service at ${url} cannot be reached: nothing listens at ${url.slice(7)} (connection refused).`,
    );
  }
});

test.each([
  ['127.0.0.1:8000', /must have the shape http:\/\/HOST:8000|must start with http/],
  ['ftp://host', /must start with http/],
  ['http://host/v1/', /must end before \/v1/],
  ['http://host?x=1', /plain address/],
  ['http://me:secret@host', /name no user/],
])('the address %s is refused', (url, reason) => {
  expect(() => new LatticeClient({ url })).toThrow(reason);
  expect(() => new LatticeClient({ url })).not.toThrow(/secret/);
});

test('a key that no header takes is refused without being shown', () => {
  expect(() => new LatticeClient({ apiKey: 'key\nwith lines' })).toThrow(/^The API key must be/);
});
