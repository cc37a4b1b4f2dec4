/** Two services whose settings name one Ray namespace: the first keeps it, over a restart of the head too. */
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { startRay, type Ray } from '../../scripts/ray.mjs';
import { call, detect } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { workersReady } from '../support/worker-conformance.js';
import { eventual } from '../support/eventually.js';

let ray: Ray;
let first: ServiceProcess;
let second: ServiceProcess;

const started: ServiceProcess[] = [];

async function start(port: string): Promise<ServiceProcess> {
  const service = await startService({
    env: {
      LATTICE_RAY_ADDRESS: ray.address,
      LATTICE_RAY_DASHBOARD: ray.dashboard,
      LATTICE_SERVICE_URL: `ws://127.0.0.1:${port}`,
      LATTICE_LOG_LEVEL: 'info',
      LATTICE_JOBS_YIELD: 'false',
    },
    flags: ['--port', port],
    timeoutMs: 120_000,
  });
  started.push(service);
  return service;
}

beforeAll(async () => {
  ray = await startRay({ python: await rayPython(), nodes: [{ cpus: 1 }] });
  first = await start('8000');
  await workersReady(first, 1);
  second = await start('8001');
});
afterAll(async () => {
  for (const service of started.reverse()) await service[Symbol.asyncDispose]();
  await ray.stop();
});

const refused = /belong to the service at ws:\/\/127\.0\.0\.1:8000: set LATTICE_RAY_NAMESPACE/;
const refusals = () => second.output().split('The workers cannot be started').length - 1;
/** Jobs that the second one has submitted to the present head. */
const jobs = async () => {
  const answer = await fetch(`${ray.dashboard}/api/jobs/`).catch(() => null);
  return answer?.ok === true ? ((await answer.json()) as { entrypoint: string }[]) : [];
};

test('the second one is refused, also by a new head that it reaches first', async () => {
  onTestFailed(() => {
    console.warn(first.output(), second.output());
  });
  await eventual(refusals).toBeGreaterThan(0);
  expect((await call(second.url, '/readyz')).body.detail).toMatch(refused);

  process.kill(first.pid, 'SIGSTOP');
  try {
    await ray.kill('head');
    await ray.addNode({ name: 'head', cpus: 1 });
    const entrypoints = async () => (await jobs()).map(({ entrypoint }) => entrypoint);
    const ofSecond: unknown = expect.stringContaining('ws://127.0.0.1:8001');
    await eventual(entrypoints).toContainEqual(ofSecond);
  } finally {
    process.kill(first.pid, 'SIGCONT');
  }
  const before = refusals();
  await eventual(refusals).toBeGreaterThan(before);
  expect((await call(second.url, '/readyz')).body.detail).toMatch(refused);
  // It may still see the worker of the old head, or none.
  await eventual(async () => (await detect(first.url)).status).toBe(200);
});

test('it gets the workers once the first one has ended and they are removed', async () => {
  await first.kill();
  await ray.down();
  await workersReady(second, 1);
  expect((await detect(second.url)).status).toBe(200);
});
