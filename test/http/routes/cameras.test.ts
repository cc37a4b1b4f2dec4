/** A camera of a watched folder that is covered, on a real service that is killed in between. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CameraBody } from '../../../src/answers/camera-record.js';
import { takenAt, takeStill } from '../../support/covered-camera.js';
import { eventually } from '../../support/eventually.js';
import { call, FEW_THREADS, post, type Answer } from '../../support/service-client.js';
import { startService, type ServiceProcess } from '../../support/service-process.js';

const KEYS = { alice: 'alice-0123456789abcdef', bob: 'bob-0123456789abcdefgh' };
const CAMERAS = '/v1/watches/gate/cameras';
const headers = { authorization: `Bearer ${KEYS.alice}`, 'content-type': 'application/json' };

interface Hook {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

let folder: string;
let service: ServiceProcess;
let receiver: Server;
const hooks: Hook[] = [];

const start = () =>
  startService({
    dataDir: join(folder, 'data'),
    env: {
      ...FEW_THREADS,
      LATTICE_IMAGE_ROOTS: join(folder, 'images'),
      LATTICE_API_KEYS_FILE: join(folder, 'keys'),
    },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-cameras-'));
  for (const name of ['data', 'images', 'images/north']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'keys'),
    Object.entries(KEYS)
      .map(([name, key]) => `${key} ${name}`)
      .join('\n'),
  );
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const id = String(request.headers['webhook-id']);
      hooks.push({ ...(JSON.parse(body) as Omit<Hook, 'id'>), id });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  service = await start();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  receiver.close();
  rmSync(folder, { recursive: true });
});

const take = (at: number, isCovered: boolean) =>
  takeStill(join(folder, 'images/north'), at, isCovered);

const cameras = async () =>
  (await call(service.url, CAMERAS, { headers })).body as unknown as { cameras: CameraBody[] };
const change = (body: object): Promise<Answer> =>
  call(service.url, CAMERAS, { method: 'PATCH', headers, body: JSON.stringify(body) });
const told = () => hooks.filter(({ type }) => type.startsWith('camera.'));

test('is found, told once and shown; then it is silenced and dismissed', async () => {
  const { port } = receiver.address() as AddressInfo;
  const watch = {
    ...{ name: 'gate', paths: ['north'], job_type: 'detect_vehicles', settle_ms: 100 },
    callback_url: `http://127.0.0.1:${port}/`,
    camera_health: true,
  };
  const added = await post(service.url, '/v1/watches', watch, headers);
  expect(added.body).toMatchObject({ camera_health: true });
  for (let at = 0; at < 9; at += 1) await take(at, false);
  await eventually(async () => {
    expect((await cameras()).cameras).toMatchObject([
      { camera: 'north', last_taken: takenAt(8), findings: [], closed: [] },
    ]);
  });
  for (let at = 9; at < 15; at += 1) await take(at, true);
  await eventually(async () => {
    const { body } = await call(service.url, '/v1/watches/gate', { headers });
    expect(body).toMatchObject({ files: { succeeded: 15 } });
  });
  await service.kill('SIGKILL');
  service = await start();
  await eventually(async () => {
    expect((await cameras()).cameras).toMatchObject([
      {
        last_taken: takenAt(14),
        last_image: { image_path: 'north/20251126_144200.jpg' },
        findings: [
          {
            ...{ kind: 'covered', began: takenAt(9), silenced_until: null },
            image: { image_path: 'north/20251126_142700.jpg' },
          },
        ],
      },
    ]);
  });
  await eventually(() => {
    expect(told()).toHaveLength(1);
  });
  expect(told()).toMatchObject([
    {
      type: 'camera.finding_opened',
      data: { watch: 'gate', camera: 'north', kind: 'covered', began: takenAt(9) },
    },
  ]);
  const { text } = await call(service.url, '/metrics', { headers });
  expect(text).toContain('lattice_camera_findings{kind="covered"} 1');

  const bob = { authorization: `Bearer ${KEYS.bob}` };
  expect((await call(service.url, CAMERAS, { headers: bob })).status).toBe(404);
  const finding = { camera: 'north', kind: 'covered' };
  expect((await change({ ...finding, kind: 'moved', dismissed: true })).status).toBe(422);
  expect((await change(finding)).status).toBe(422);
  const until = Math.round(Date.now() / 1_000) + 3_600;
  expect((await change({ ...finding, silenced_until: until })).body).toMatchObject({
    cameras: [{ findings: [{ silenced_until: until }] }],
  });
  expect((await change({ ...finding, dismissed: true })).body).toMatchObject({
    cameras: [{ findings: [], closed: [{ kind: 'covered', ended: takenAt(14) }] }],
  });
  expect(told()).toHaveLength(1);
});
