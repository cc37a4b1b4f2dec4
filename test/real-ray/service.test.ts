/**
 * The whole service on a real Ray of two nodes: it has its workers placed by itself and loses nothing whatever part of
 * Ray is killed. The routes, and losses of workers that Ray has no part in, are in test/service. Ray's ports are fixed
 * and so is the service's, in a network namespace of their own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { startRay, type Ray, type WorkerView } from '../../scripts/ray.mjs';
import { checkClusterNotebook } from '../edge/cluster-notebook.js';
import { call, DEMO, detect, expectVehicles, resultOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { workersReady } from '../support/worker-conformance.js';
import { HANG_MS } from '../support/eventually.js';

const PORT = '8000';
const IMAGES = 200;
/** CPUs for one worker on each node. */
const N2 = { name: 'n2', cpus: 1 };
let ray: Ray;

const since = (start: number) => `${((performance.now() - start) / 1_000).toFixed(2)} s`;

beforeAll(async () => {
  const start = performance.now();
  ray = await startRay({
    python: await rayPython(),
    nodes: [{ cpus: 1 }, N2],
    // Two workers and the service share the cores of the machine that tests.
    env: { LATTICE_JOBS_YIELD: 'false' },
  });
  console.log(`Ray with two nodes: ${since(start)}`);
});
afterAll(() => ray.stop());

async function open(): Promise<ServiceProcess> {
  const service = await startService({
    env: {
      LATTICE_RAY_ADDRESS: ray.address,
      LATTICE_RAY_DASHBOARD: ray.dashboard,
      LATTICE_IMAGE_ROOTS: DEMO,
      LATTICE_SERVICE_URL: `ws://127.0.0.1:${PORT}`,
      LATTICE_LOG_LEVEL: 'info',
      LATTICE_SYNC_DEADLINE_MS: '30000',
    },
    flags: ['--port', PORT],
  });
  const start = performance.now();
  // Workers of an earlier service may be there already, and be replaced where a setting differs.
  await logged(service, 'workers of the cluster are up');
  await workersReady(service, 2);
  console.log(`service listening to two workers that are as it wants them: ${since(start)}`);
  return service;
}

interface WorkerBody {
  worker_id: string;
  node_id: string;
  state: string;
}

async function logged(service: ServiceProcess, message: string): Promise<void> {
  const deadline = Date.now() + HANG_MS;
  while (!service.output().includes(message)) {
    if (Date.now() > deadline) throw new Error(`Not logged: ${message}\n${service.output()}`);
    await sleep(20);
  }
}

async function workersOf(service: ServiceProcess): Promise<WorkerBody[]> {
  const { text } = await call(service.url, '/v1/cluster/status');
  return (JSON.parse(text) as { workers: WorkerBody[] }).workers;
}

async function statusCode(service: ServiceProcess): Promise<number> {
  return (await call(service.url, '/v1/cluster/status')).status;
}

describe('losses of the parts of Ray', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await open();
  });
  afterAll(() => service[Symbol.asyncDispose]());
  beforeEach(() => workersReady(service, 2));

  const paths = Array.from({ length: IMAGES }, (_, index) =>
    index % 100 === 7 ? `absent-${index}.png` : 'shapes.png',
  );

  /** Runs a job, does something in its midst, and checks that the result is whole. */
  async function through(what: string, loss: () => Promise<void>): Promise<void> {
    const jobId = await submit(service.url, { image_paths: paths });
    const finished = async () =>
      (await call(service.url, `/v1/jobs/${jobId}/status`)).body.finished_images;
    while ((await finished()) < IMAGES / 10) await sleep(5);
    const before = await finished();
    expect(before, 'the job is still under way').toBeLessThan(IMAGES);
    const start = performance.now();
    await loss();
    const { result } = await resultOf(service.url, jobId);
    console.log(`${what}: job of ${IMAGES} whole ${since(start)} after the loss at ${before}`);
    expect(result.images.map(({ image_path }) => image_path)).toEqual(paths);
    for (const image of result.images) {
      if (image.image_path === 'shapes.png') expectVehicles(image.detections);
      else expect(image).toMatchObject({ status: 'error', error: { code: 'image_not_found' } });
    }
    const absent = paths.filter((path) => path !== 'shapes.png').length;
    expect(result).toMatchObject({ succeeded: IMAGES - absent, failed: absent });
  }

  /** Kills, and measures how long it takes until two workers serve again. */
  async function recovery(what: string, kill: () => unknown): Promise<void> {
    const start = performance.now();
    await kill();
    await workersReady(service, 1);
    await workersReady(service, 2);
    const took = performance.now() - start;
    console.log(`${what}: two workers again after ${(took / 1_000).toFixed(2)} s`);
  }

  const view = async (worker: string): Promise<WorkerView> =>
    (await ray.workers()).find((each) => each.worker === worker)!;

  test('the status is the cluster, live, and cheap', async () => {
    const { body, headers } = await call(service.url, '/v1/cluster/status');
    expect(body).toMatchObject({ cluster_version: '2.60.0', cluster_alive: true, total_cpus: 2 });
    expect(headers.get('x-lattice-cluster-python')).toMatch(/^3\.\d+\.\d+$/);
    expect(headers.get('x-lattice-cluster-namespace')).toBe('lattice');
    const nodes = new Set((await workersOf(service)).map(({ node_id }) => node_id));
    expect(nodes).toEqual(new Set([ray.nodeId('head'), ray.nodeId('n2')]));
    const times: number[] = [];
    for (let round = 0; round < 200; round += 1) {
      const start = performance.now();
      await call(service.url, '/v1/cluster/status');
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    console.log(
      `status over HTTP: p50 ${times[100]!.toFixed(2)} ms, p99 ${times[198]!.toFixed(2)} ms`,
    );
  });

  test('a second service in the same namespace gets no workers and says why', async () => {
    await using second = await startService({
      env: {
        LATTICE_RAY_ADDRESS: ray.address,
        LATTICE_RAY_DASHBOARD: ray.dashboard,
        LATTICE_SERVICE_URL: 'ws://127.0.0.1:8001',
      },
      flags: ['--port', '8001'],
    });
    await logged(second, 'The workers cannot be started');
    const { status, body } = await call(second.url, '/readyz');
    expect(status).toBe(503);
    expect(body.detail).toContain(
      `The workers of this namespace belong to the service at ws://127.0.0.1:${PORT}: set LATTICE_RAY_NAMESPACE`,
    );
    expect((await workersOf(service)).map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect((await detect(service.url)).status).toBe(200);
  });

  test('an actor', async () => {
    const actor = (await view('worker-1')).actor_pid!;
    await through('actor killed', () =>
      recovery('actor killed', () => process.kill(actor, 'SIGKILL')),
    );
  });

  test('a raylet', async () => {
    await through('raylet killed', async () => {
      ray.killRaylet('n2');
      await workersReady(service, 1);
    });
    await ray.waitForNodes(1);
    expect((await detect(service.url)).status).toBe(200);
    await ray.kill('n2');
    const start = performance.now();
    await ray.addNode(N2);
    await workersReady(service, 2);
    console.log(`raylet killed: two workers ${since(start)} after the node was started again`);
  });

  test('the head: the other node goes on, and a new head gets its workers from the service', async () => {
    await through('head killed', async () => {
      await ray.kill('head');
      await workersReady(service, 1);
    });
    const start = performance.now();
    while ((await statusCode(service)) !== 503) await sleep(20);
    console.log(`head killed: status 503 at the latest ${since(start)} after the job`);
    expect((await call(service.url, '/healthz')).body).toMatchObject({ cluster_connected: false });
    expect((await detect(service.url)).status).toBe(200);
    await ray.kill('n2');
    const again = performance.now();
    await ray.addNode({ name: 'head', cpus: 1 });
    await ray.addNode(N2);
    console.log(`new head and node: ${since(again)}`);
    const jobId = await submit(service.url);
    expectVehicles((await resultOf(service.url, jobId)).result.detections);
    await workersReady(service, 2);
    while ((await statusCode(service)) !== 200) await sleep(20);
    console.log(`head killed: status and two workers ${since(again)} after the new head was begun`);
  });

  test('the notebook of the cluster runs against all of it', async () => {
    await checkClusterNotebook(
      { LATTICE_CORE_API_URL: service.url, LATTICE_RAY_ADDRESS: ray.address },
      ['worker-0', 'worker-1'],
    );
  });
});
