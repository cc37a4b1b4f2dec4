/**
 * Connections that send nothing, more than the process has descriptors: accepted work and new clients notice nothing.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { descriptorLimit } from '../../src/base/descriptors.js';
import { call, FEW_THREADS, resultOf, submit } from '../support/service-client.js';
import { startService } from '../support/service-process.js';

const OPEN_FILES = 400;
const SILENT = Math.min(2_000, descriptorLimit() - 200);
const IMAGES = 100;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

test(`${SILENT} silent connections at a limit of ${OPEN_FILES} fail no image and keep no client out`, async () => {
  await using service = await startService({ env: FEW_THREADS, openFiles: OPEN_FILES });
  const { hostname, port } = new URL(service.url);
  for (let i = 0; i < SILENT; i += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    sockets.push(socket);
    if (i % 100 === 0) await once(socket, 'connect');
  }
  const id = await submit(service.url, { image_paths: Array(IMAGES).fill('shapes.png') });
  let ended = false;
  const answered = (async () => {
    while (!ended) {
      const answer = await call(service.url, '/healthz', { headers: { connection: 'close' } });
      expect(answer.status).toBe(200);
      await sleep(50);
    }
  })();
  const { result } = await resultOf(service.url, id);
  ended = true;
  expect(result).toMatchObject({ succeeded: IMAGES, failed: 0 });
  await answered;
  expect(service.stdout()).toMatch(/"limit":144.*too many connections/);
  expect((await call(service.url, '/readyz')).status).toBe(200);
});

test('a start with too few descriptors is refused in one sentence', async () => {
  const told = await startService({ openFiles: 200 }).catch(String);
  expect(told).toMatch(/may open 200 files and connections and needs 320: raise the limit/);
  expect(told).not.toContain('    at ');
});
