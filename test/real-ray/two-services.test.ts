/** Two services whose settings name one Ray namespace: the first keeps it, over a restart of the head too. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { startRay, type Ray } from '../../scripts/ray.mjs';
import { call, detect } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { workersReady } from '../support/worker-conformance.js';
import { HANG_MS } from '../support/eventually.js';

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

const until = async (what: string, isSo: () => Promise<boolean> | boolean) => {
  const deadline = Date.now() + HANG_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`${what}\n${first.output()}\n${second.output()}`);
    await sleep(100);
  }
};
const refused = /belong to the service at ws:\/\/127\.0\.0\.1:8000: set LATTICE_RAY_NAMESPACE/;
const refusals = () => second.output().split('The workers cannot be started').length - 1;
/** Jobs that the second one has submitted to the present head. */
const jobs = async () => {
  const answer = await fetch(`${ray.dashboard}/api/jobs/`).catch(() => null);
  return answer?.ok === true ? ((await answer.json()) as { entrypoint: string }[]) : [];
};

test('the second one is refused, also by a new head that it reaches first', async () => {
  await until('the second one is not refused', () => refusals() > 0);
  expect((await call(second.url, '/readyz')).body.detail).toMatch(refused);

  process.kill(first.pid, 'SIGSTOP');
  try {
    await ray.kill('head');
    await ray.addNode({ name: 'head', cpus: 1 });
    await until('the second one starts no workers', async () =>
      (await jobs()).some(({ entrypoint }) => entrypoint.includes('ws://127.0.0.1:8001')),
    );
  } finally {
    process.kill(first.pid, 'SIGCONT');
  }
  const before = refusals();
  await until('the second one is not refused again', () => refusals() > before);
  expect((await call(second.url, '/readyz')).body.detail).toMatch(refused);
  // It may still see the worker of the old head, or none.
  await until('the first one has no worker', async () => (await detect(first.url)).status === 200);
});

test('it gets the workers once the first one has ended and they are removed', async () => {
  await first.kill();
  await ray.down();
  await workersReady(second, 1);
  expect((await detect(second.url)).status).toBe(200);
});
