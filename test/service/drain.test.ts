/** SIGTERM under work: what is in hand is answered, nothing new is taken in, the rest goes on after a restart. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  call,
  DEMO,
  detect,
  expectVehicles,
  FEW_THREADS,
  resultOf,
  statusOf,
  submit,
  writeEnlarged,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { startReceiver } from '../webhooks/receiver.js';

/** A stop that waited for its drain time would last longer than a test. */
const WITHOUT_END = { LATTICE_DRAIN_SECONDS: '3600' };

let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-drain-'));
  await writeEnlarged(join(folder, 'large.png'), 4);
  await writeEnlarged(join(folder, 'huge.png'), 12);
  env = { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` };
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const JOB = JSON.stringify({ job_type: 'detect_cars', image_paths: ['shapes.png'] });

async function connection(service: ServiceProcess): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** A connection with a whole head and half a body: a stop leaves it open for 2 s. `finishRequest` sends the rest. */
async function beginRequest(service: ServiceProcess): Promise<Socket> {
  const socket = await connection(service);
  socket.write(
    'POST /v1/jobs/submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${JOB.length}\r\n\r\n${JOB.slice(0, 9)}`,
  );
  await sleep(100);
  return socket;
}

async function finishRequest(begun: Socket): Promise<string> {
  begun.write(JOB.slice(9));
  const [answer] = (await once(begun, 'data')) as [Buffer];
  return answer.toString();
}

async function inHand(service: ServiceProcess, images: number): Promise<void> {
  for (;;) {
    const { body } = await call(service.url, '/v1/cluster/status');
    if (body.engine.in_flight >= images) return;
    await sleep(5);
  }
}

test('work in hand ends, new work is refused, and the job goes on after a restart', async () => {
  const dataDir = join(folder, 'data');
  const stopEnv = { ...env, LATTICE_DRAIN_SECONDS: '120' };
  let id: string;
  {
    await using service = await startService({ dataDir, env: stopEnv });
    id = await submit(service.url, { image_paths: Array(120).fill('large.png') });
    await inHand(service, 1);
    const begun = await beginRequest(service);
    const answer = detect(service.url, { image_path: 'huge.png' });
    await sleep(100);
    const exited = service.kill('SIGTERM');
    const listens = () =>
      fetch(`${service.url}/healthz`).then(
        () => true,
        () => false,
      );
    while (await listens()) await sleep(10);
    const refusal = await finishRequest(begun);
    expect(refusal).toMatch(/^HTTP\/1\.1 503 /);
    expect(refusal).toMatch(/retry-after: \d/i);
    expect(refusal).toContain('shutting_down');
    const { status, body } = await answer;
    expect(status).toBe(200);
    expectVehicles(body.detections, { scale: 12 });
    expect(await exited, service.output()).toBe(0);
  }
  await using service = await startService({ dataDir, env });
  // It was stopped under way, and goes on from where it was.
  expect((await statusOf(service.url, id)).finished_images).toBeLessThan(120);
  const { status, result } = await resultOf(service.url, id);
  expect(status).toBe('completed');
  expect(result).toMatchObject({ succeeded: 120, failed: 0, car_count: 360 });
});

/** The exit code is 0 only where no part of the stop took longer than the drain time and its allowance. */
test('a stop takes no longer than the drain time although all clients are slow', async () => {
  await using receiver = await startReceiver(() => undefined);
  await using service = await startService({
    env: { ...env, LATTICE_DRAIN_SECONDS: '2' },
  });
  await submit(service.url, { callback_url: receiver.url });
  while (receiver.received.length === 0) await sleep(10);
  const begun = await beginRequest(service);
  expect(await service.kill('SIGTERM')).toBe(0);
  begun.destroy();
});

test('a client that reads nothing takes no drain time from webhooks and jobs', async () => {
  let webhookCut = false;
  await using receiver = await startReceiver((response) => {
    response.on('close', () => (webhookCut ||= !response.writableFinished));
    setTimeout(() => response.writeHead(204).end(), 1_000);
  });
  await using service = await startService({ env: { ...env, LATTICE_DRAIN_SECONDS: '5' } });
  const reader = (await connection(service)).pause();
  reader.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500));
  await submit(service.url, { callback_url: receiver.url });
  while (receiver.received.length === 0) await sleep(10);
  const stopAt = Date.now();
  expect(await service.kill('SIGTERM')).toBe(0);
  expect(Date.now() - stopAt).toBeGreaterThan(1_900);
  expect(webhookCut).toBe(false);
  reader.destroy();
});

test('connections without a request and refused upgrades do not delay a stop', async () => {
  await using service = await startService({ env: { ...env, ...WITHOUT_END } });
  const idle = await connection(service);
  const half = await connection(service);
  half.write('GET /healthz HTTP/1.1\r\nHost: loc');
  const refused = await connection(service);
  refused.write(
    'GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  await once(refused, 'data');
  expect(await service.kill('SIGTERM')).toBe(0);
  for (const socket of [idle, half, refused]) socket.destroy();
});

test('a service that has listed folders and globs stops at once', async () => {
  await using service = await startService({
    env: { ...env, ...WITHOUT_END, LATTICE_LOG_LEVEL: 'info' },
  });
  for (const path of ['.', '*.png']) {
    const id = await submit(service.url, { image_paths: [path] });
    expect((await resultOf(service.url, id)).status).toBe('completed');
  }
  expect(await service.kill('SIGTERM')).toBe(0);
  expect(service.output()).toMatch(/"msg":"stopped"\}\n$/);
});

test('an idle service stops at once, a second signal ends it without waiting', async () => {
  await using idle = await startService({ env: WITHOUT_END });
  expect(await idle.kill('SIGINT')).toBe(0);

  await using busy = await startService({ env: { ...env, ...WITHOUT_END } });
  const begun = await beginRequest(busy);
  const exited = busy.kill('SIGTERM');
  await sleep(200);
  void busy.kill('SIGTERM');
  expect(await exited).toBe(1);
  begun.destroy();
});
