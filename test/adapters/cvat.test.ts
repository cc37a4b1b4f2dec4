/** A service that stands in for CVAT's Nuclio, with the requests that CVAT makes of it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FEW_THREADS } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const KEY = 'cvat-0123456789abcdef';
const STREET = readFileSync(
  fileURLToPath(new URL('../../models/demo/street.jpg', import.meta.url)),
).toString('base64');

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-cvat-'));
  writeFileSync(join(folder, 'keys'), `${KEY} annotators\n`);
  service = await startService({
    env: {
      ...FEW_THREADS,
      LATTICE_COMPAT: 'cvat',
      LATTICE_API_KEYS_FILE: join(folder, 'keys'),
    },
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** As the gateway of `lambda_manager` sends it; the library behind it makes basic authentication of the address. */
async function send(url: string, data?: object, headers: Record<string, string> = {}, key = KEY) {
  const answer = await fetch(`${service.url}${url}`, {
    method: data === undefined ? 'GET' : 'POST',
    headers: {
      'user-agent': 'python-requests/2.32.2',
      accept: '*/*',
      authorization: `Basic ${Buffer.from(`lattice:${key}`).toString('base64')}`,
      'x-nuclio-project-name': 'cvat',
      'x-nuclio-function-namespace': 'nuclio',
      'x-nuclio-invoke-via': 'domain-name',
      'x-nuclio-invoke-timeout': '120s',
      ...(data === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(data === undefined ? {} : { body: JSON.stringify(data) }),
  });
  return { status: answer.status, body: await answer.json() };
}

const invoke = (name: string, payload: object, key = KEY) =>
  send(
    '/api/function_invocations',
    payload,
    { 'x-nuclio-function-name': name, 'x-nuclio-path': '/' },
    key,
  );

interface Function {
  metadata: { name: string; annotations: Record<string, string> };
  spec: { description: string };
  status: { httpPort?: number };
}
interface Shape {
  confidence: string;
  label: string;
  points: number[];
  type: string;
}

test('each model is a detector with its labels', async () => {
  const { status, body } = await send('/api/functions');
  expect(status).toBe(200);
  const functions = body as Record<string, Function>;
  const bundled = functions['vehicles-v8n'];
  expect(bundled?.metadata.name).toBe('vehicles-v8n');
  expect(bundled?.metadata.annotations.type).toBe('detector');
  expect(bundled?.spec.description).toContain('vehicles-v8n');
  const labels = JSON.parse(bundled?.metadata.annotations.spec ?? '') as {
    name: string;
    type: string;
  }[];
  expect(labels.map(({ name }) => name)).toEqual(['car', 'motorcycle', 'bus', 'truck']);
  expect(new Set(labels.map(({ type }) => type))).toEqual(new Set(['rectangle']));
  expect((await send('/api/functions/vehicles-v8n')).body).toEqual(bundled);
});

test('a call gives the boxes that the service gives, above the threshold of the call', async () => {
  const { status, body } = await invoke('vehicles-v8n', { threshold: 0.7, image: STREET });
  expect(status).toBe(200);
  const answer = await fetch(
    `${service.url}/v1/inference/detect?model_name=vehicles-v8n&confidence_threshold=0.7`,
    {
      method: 'POST',
      headers: { 'content-type': 'image/jpeg', authorization: `Bearer ${KEY}` },
      body: Buffer.from(STREET, 'base64'),
    },
  );
  const { detections } = (await answer.json()) as {
    detections: { class: string; confidence: number; bounding_box: number[] }[];
  };
  expect(detections.length).toBeGreaterThan(0);
  const shapes = body as Shape[];
  expect(shapes.map(({ label, type }) => [label, type])).toEqual(
    detections.map((detection) => [detection.class, 'rectangle']),
  );
  for (const [index, { points, confidence }] of shapes.entries()) {
    expect(points).toHaveLength(4);
    expect(Number(confidence)).toBeCloseTo(detections[index]?.confidence ?? 0, 4);
    expect(Number(confidence)).toBeGreaterThan(0.7);
  }
  const all = (await invoke('vehicles-v8n', { image: STREET })).body as Shape[];
  expect(all.length).toBeGreaterThan(shapes.length);
});

test('a picture larger than other JSON bodies may be is taken', async () => {
  const padded = Buffer.concat([Buffer.from(STREET, 'base64'), Buffer.alloc(9 * 1024 * 1024)]);
  const { status } = await invoke('vehicles-v8n', { image: padded.toString('base64') });
  expect(status).toBe(200);
});

test.each([
  [
    'an unknown key',
    () => invoke('vehicles-v8n', { image: STREET }, 'another-0123456789abcdef'),
    401,
  ],
  ['an unknown function', () => invoke('nothing', { image: STREET }), 422],
  ['a name that no model can have', () => send('/api/functions/a%20b'), 422],
  ['no picture', () => invoke('vehicles-v8n', { image: '' }), 422],
  [
    'a picture that cannot be read',
    () => invoke('vehicles-v8n', { image: 'bm8gcGljdHVyZQ==' }),
    422,
  ],
  ['a threshold above 1', () => invoke('vehicles-v8n', { image: STREET, threshold: 40 }), 422],
])('%s is refused', async (_, ask, expected) => {
  expect((await ask()).status).toBe(expected);
});
