/** The service with its images on worker processes: the same routes, and nothing lost when one of the parts dies. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeRayHead } from '../clusters/ray/fake-ray-head.js';
import { routeConformance } from '../support/route-conformance.js';
import {
  call,
  DEMO,
  detect,
  expectVehicles,
  PICTURE,
  reached,
  resultOf,
  submit,
  type Body,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';
import { HANG_MS } from '../support/eventually.js';

let head: FakeRayHead;
let workers: WorkerProcess[] = [];

beforeAll(async () => {
  head = await FakeRayHead.start();
});
afterAll(async () => {
  await Promise.all(workers.map(end));
  head.kill();
});

async function end(worker: WorkerProcess): Promise<void> {
  worker.kill('SIGKILL');
  await worker.exited;
}

function startWorker(service: Pick<ServiceProcess, 'url'>, id: string, imageRoots = DEMO) {
  const worker = startWorkerProcess({
    LATTICE_SERVICE_URL: service.url.replace('http', 'ws'),
    LATTICE_IMAGE_ROOTS: imageRoots,
    LATTICE_WORKER_ID: id,
    LATTICE_NODE_ID: `node-of-${id}`,
    LATTICE_THREADS: '1',
  });
  workers.push(worker);
  return worker;
}

interface WorkerBody {
  worker_id: string;
  state: string;
}

async function workersOf(url: string): Promise<WorkerBody[]> {
  const { body } = await call(url, '/v1/cluster/status');
  return (body as Body & { workers?: WorkerBody[] }).workers ?? [];
}

async function joined(url: string, ids: string[]): Promise<void> {
  const deadline = Date.now() + HANG_MS;
  for (;;) {
    const ready = (await workersOf(url)).filter(({ state }) => state === 'ready');
    const there = ready.map((worker) => worker.worker_id).sort();
    if (JSON.stringify(there) === JSON.stringify(ids)) return;
    if (Date.now() > deadline) throw new Error(`Workers: ${there.join(', ')}`);
    await sleep(20);
  }
}

function open(options: Parameters<typeof startService>[0] = {}): Promise<ServiceProcess> {
  return startService({
    ...options,
    env: {
      LATTICE_RAY_ADDRESS: head.address,
      LATTICE_IMAGE_ROOTS: DEMO,
      LATTICE_LOG_LEVEL: 'info',
      ...options.env,
    },
  });
}

describe('the routes', () => {
  routeConformance({
    open: async (imageRoots) => {
      const service = await open({ env: { LATTICE_IMAGE_ROOTS: imageRoots } });
      startWorker(service, 'worker-0', imageRoots);
      startWorker(service, 'worker-1', imageRoots);
      await joined(service.url, ['worker-0', 'worker-1']);
      return service;
    },
    nodes: 1,
    workers: 2,
    workerId: expect.stringMatching(/^worker-[01]$/),
  });

  afterAll(async () => {
    await Promise.all(workers.map(end));
    workers = [];
  });
});

test('a job goes on while a worker, then the service itself is killed: each image once, in order', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-workers-'));
  let service = await open({ dataDir });
  const { port } = new URL(service.url);
  const victim = startWorker(service, 'worker-0');
  startWorker(service, 'worker-1');
  await joined(service.url, ['worker-0', 'worker-1']);
  const paths = Array.from({ length: 250 }, (_, index) =>
    index % 50 === 7 ? `absent-${index}.png` : 'shapes.png',
  );
  const jobId = await submit(service.url, { image_paths: paths });
  const finished = async () =>
    (await call(service.url, `/v1/jobs/${jobId}/status`)).body.finished_images;
  const atLeast = async (count: number) => {
    while ((await finished()) < count) await sleep(10);
  };
  await atLeast(25);
  await end(victim);
  const killedAt = performance.now();
  startWorker(service, 'worker-2');
  await joined(service.url, ['worker-1', 'worker-2']);
  console.log(
    `another worker joined ${(performance.now() - killedAt).toFixed(0)} ms after the kill`,
  );
  await atLeast(100);
  await service.kill('SIGKILL');
  // The workers go on dialling the address they have.
  service = await open({ dataDir, flags: ['--port', port] });
  await joined(service.url, ['worker-1', 'worker-2']);
  const { result } = await resultOf(service.url, jobId);
  expect(result.images.map(({ image_path }) => image_path)).toEqual(paths);
  for (const image of result.images) {
    if (image.image_path === 'shapes.png') expectVehicles(image.detections);
    else expect(image).toMatchObject({ status: 'error', error: { code: 'image_not_found' } });
  }
  expect(result).toMatchObject({ succeeded: 245, failed: 5 });
  const events = service.output();
  expect(events).not.toContain('internal_error');
  await service[Symbol.asyncDispose]();
  await Promise.all(workers.map(end));
  workers = [];
  rmSync(dataDir, { recursive: true });
});

test('a worker that hangs, which the service did not start: the other one does its images', async () => {
  await using service = await open({ env: { LATTICE_JOBS_YIELD: 'false' } });
  const hanging = startWorker(service, 'worker-0');
  startWorker(service, 'worker-1');
  await joined(service.url, ['worker-0', 'worker-1']);
  const jobId = await submit(service.url, { image_paths: Array(120).fill('shapes.png') });
  while ((await call(service.url, `/v1/jobs/${jobId}/status`)).body.finished_images < 15) {
    await sleep(10);
  }
  hanging.kill('SIGSTOP');
  const { result } = await resultOf(service.url, jobId);
  expect(result).toMatchObject({ succeeded: 120, failed: 0 });
  expect(service.output()).toMatch(/"workerId":"worker-0"[^\n]*a worker was lost/);
  await joined(service.url, ['worker-1']);
  await Promise.all(workers.map(end));
  workers = [];
});

test('a stop lets the workers finish what they have, and the next start goes on', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-workers-'));
  const first = await open({ dataDir });
  const { port } = new URL(first.url);
  startWorker(first, 'worker-0');
  await joined(first.url, ['worker-0']);
  const jobId = await submit(first.url, { image_paths: Array(150).fill('shapes.png') });
  while ((await call(first.url, `/v1/jobs/${jobId}/status`)).body.finished_images < 20) {
    await sleep(10);
  }
  expect(await first.kill('SIGTERM')).toBe(0);
  expect(first.output()).toMatch(/"inHand":0,[^\n]*"a worker left"/);
  expect(first.output()).not.toContain('a worker was lost');
  const second = await open({ dataDir, flags: ['--port', port] });
  const { result } = await resultOf(second.url, jobId);
  expect(result).toMatchObject({ succeeded: 150, failed: 0 });
  await second[Symbol.asyncDispose]();
  await Promise.all(workers.map(end));
  workers = [];
  rmSync(dataDir, { recursive: true });
});

describe('a node whose image folder is not mounted', () => {
  const PHOTOS = { image_paths: Array<string>(60).fill('shapes.png') };
  let folder: string;
  let service: ServiceProcess;
  beforeAll(async () => {
    // An empty folder, as a volume that is not mounted leaves it.
    folder = mkdtempSync(join(tmpdir(), 'lattice-unmounted-'));
    service = await open();
    startWorker(service, 'empty', folder);
    await joined(service.url, ['empty']);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await Promise.all(workers.map(end));
    workers = [];
    rmSync(folder, { recursive: true });
  });

  test('alone: the service is not ready, and the job waits for the folder', async () => {
    const jobId = await submit(service.url, PHOTOS);
    await expect
      .poll(async () => (await call(service.url, '/readyz')).body.detail)
      .toContain('is its volume mounted?');
    copyFileSync(PICTURE, join(folder, 'shapes.png'));
    const { result } = await resultOf(service.url, jobId);
    expect(result).toMatchObject({ succeeded: 60, failed: 0 });
    expect((await call(service.url, '/readyz')).status).toBe(200);
  });

  test('loses no image of a job while another node has the folder, and is shown with the reason', async () => {
    rmSync(join(folder, 'shapes.png'));
    startWorker(service, 'full');
    await joined(service.url, ['empty', 'full']);
    const jobId = await submit(service.url, PHOTOS);
    const { result } = await resultOf(service.url, jobId);
    expect(result).toMatchObject({ succeeded: 60, failed: 0 });
    expect((await call(service.url, '/readyz')).status).toBe(200);
    expect(await workersOf(service.url)).toContainEqual(
      expect.objectContaining({
        worker_id: 'empty',
        state: 'unhealthy',
        reason: 'Node node-of-empty lacks an image that the service has: is its volume mounted?',
      }),
    );
    expect(service.output()).toMatch(/"path":"shapes.png"[^\n]*a worker lacks an image/);
  });
});

test('a worker without the token is the reason why none has joined', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-token-'));
  const token = join(folder, 'token');
  writeFileSync(token, 'the-secret-of-the-workers');
  const service = await open({ env: { LATTICE_WORKER_TOKEN_FILE: token } });
  startWorker(service, 'stranger');
  const reason =
    'stranger on node node-of-stranger at 127.0.0.1 was refused, because it has no worker token';
  await expect.poll(async () => (await call(service.url, '/readyz')).body.detail).toContain(reason);
  expect(service.output()).toContain(reason);
  expect(await workersOf(service.url)).toMatchObject([
    { worker_id: 'stranger', state: 'refused', reason: expect.stringContaining(reason) },
  ]);
  expect((await call(service.url, '/metrics')).text).toContain(
    'lattice_workers{state="refused"} 1',
  );
  await service[Symbol.asyncDispose]();
  await Promise.all(workers.map(end));
  workers = [];
  rmSync(folder, { recursive: true });
});

describe('without a worker', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    // Longer than the test may take: what is refused is refused at once.
    service = await open({ env: { LATTICE_SYNC_DEADLINE_MS: '600000' } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('models and their classes are known all the same', async () => {
    const { body } = await call(service.url, '/v1/models');
    expect(body.models).toContainEqual(
      expect.objectContaining({ name: 'yolov8n.pt', state: 'available' }),
    );
    await submit(service.url, { job_type: 'detect_vehicles', vehicle_types: ['bus'] });
  });

  test('a synchronous call is answered 503 at once with the reason; a job waits', async () => {
    const { status, body, headers } = await detect(service.url);
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body).toMatchObject({
      code: 'cluster_unavailable',
      detail: expect.stringMatching(/no worker has joined/i),
    });
    expect((await call(service.url, '/readyz')).status).toBe(503);
    const jobId = await submit(service.url);
    await reached(service.url, jobId, ['pending', 'running']);
    startWorker(service, 'late');
    const record = await resultOf(service.url, jobId);
    expectVehicles(record.result.detections);
    expect((await call(service.url, '/readyz')).status).toBe(200);
  });

  test('the status follows the head, not the workers', async () => {
    expect((await call(service.url, '/healthz')).body).toMatchObject({ cluster_connected: true });
    head.kill();
    await expect.poll(async () => (await call(service.url, '/v1/cluster/status')).status).toBe(503);
    expect((await call(service.url, '/v1/cluster/status')).body).toMatchObject({
      code: 'cluster_unavailable',
      detail: expect.stringContaining(head.address),
    });
    expect((await detect(service.url)).status).toBe(200);
    await head.listen();
    await expect.poll(async () => (await call(service.url, '/v1/cluster/status')).status).toBe(200);
  });

  test('after a loss a synchronous call is answered at once too, and told of the loss', async () => {
    workers.at(-1)!.kill('SIGKILL');
    await expect.poll(async () => (await call(service.url, '/readyz')).status).toBe(503);
    const { status, body, headers } = await detect(service.url);
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body.detail).toContain('all workers were lost (late)');
    expect(body.detail).not.toContain('joined');
  });
});

test.each([
  [{ LATTICE_RAY_ADDRESS: 'ray://127.0.0.1:6379' }, 'ray://HOST:10001'],
  [{ LATTICE_RAY_ADDRESS: '', LATTICE_CLUSTER: 'ray' }, 'ray://HOST:10001'],
  [{ LATTICE_HOST: '0.0.0.0', LATTICE_INSECURE: '0' }, 'LATTICE_API_KEYS_FILE'],
  [{ LATTICE_WORKER_TOKEN_FILE: '/nowhere' }, 'LATTICE_WORKER_TOKEN_FILE'],
  [{ LATTICE_RAY_DASHBOARD: 'http://127.0.0.1:8265' }, 'LATTICE_SERVICE_URL'],
])('settings that cannot work are refused with a sentence: %o', async (env, named) => {
  await expect(open({ env: env })).rejects.toThrow(named);
});
