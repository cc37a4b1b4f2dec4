/** A service as the machine learning backend of Label Studio, with the requests that its connector sends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FEW_THREADS } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const KEY = 'label-studio-0123456789';
const CONFIG = `<View><Image name="image" value="$image"/><RectangleLabels name="label" toName="image">
  <Label value="Car"/><Label value="Lorry" predicted_values="truck,bus"/></RectangleLabels></View>`;

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-label-studio-'));
  writeFileSync(join(folder, 'keys'), `${KEY} annotators\n`);
  service = await startService({
    env: {
      ...FEW_THREADS,
      LATTICE_COMPAT: 'label-studio',
      LATTICE_API_KEYS_FILE: join(folder, 'keys'),
    },
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const basic = `Basic ${Buffer.from(`lattice:${KEY}`).toString('base64')}`;

async function send(path: string, body?: object, authorization = basic) {
  const answer = await fetch(`${service.url}/label-studio/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'user-agent': 'heartex/1.20', 'content-type': 'application/json', authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const predict = (tasks: object[], more: object = {}) =>
  send('predict', {
    tasks,
    model_version: 'yolov8n.pt',
    project: '1.1764064800',
    label_config: CONFIG,
    params: { login: null, password: null, context: null },
    ...more,
  });

const task = (image: string, id = 1) => ({ id, data: { image }, annotations: [], predictions: [] });

interface Prediction {
  model_version: string;
  score?: number;
  error?: string;
  result: {
    from_name: string;
    to_name: string;
    type: string;
    original_width: number;
    score: number;
    value: { x: number; width: number; rectanglelabels: string[] };
  }[];
}

test('health and setup are answered as a project asks for them', async () => {
  expect(await send('health')).toEqual({
    status: 200,
    body: { status: 'UP', model_class: 'lattice-core' },
  });
  const project = { project: '1.1764064800', schema: CONFIG, hostname: 'http://localhost:8080' };
  expect(await send('setup', { ...project, access_token: 'abc' })).toEqual({
    status: 200,
    body: { model_version: 'yolov8n.pt' },
  });
});

test('tasks get the boxes of their pictures under the labels of the project', async () => {
  const { status, body } = await predict([
    task('/data/local-files/?d=shapes.png'),
    task('absent.jpg', 2),
  ]);
  expect(status).toBe(200);
  const [street, absent] = body.results as Prediction[];
  expect(street!.model_version).toMatch(/^yolov8n\.pt [\da-f]{16}$/);
  expect(street!.result.length).toBeGreaterThan(2);
  for (const region of street!.result) {
    expect(region).toMatchObject({ from_name: 'label', to_name: 'image', type: 'rectanglelabels' });
    expect(['Car', 'Lorry']).toContain(region.value.rectanglelabels[0]);
    expect(region.value.x + region.value.width).toBeLessThanOrEqual(100.001);
  }
  expect(street!.score).toBe(Math.min(...street!.result.map(({ score }) => score)));
  expect(absent).toMatchObject({
    result: [],
    error: expect.stringContaining('absent.jpg') as string,
  });
});

test('a picture that Label Studio keeps is said to be out of reach', async () => {
  const { body } = await predict([task('/data/upload/1/photo.jpg'), task('../outside.jpg')]);
  const [kept, outside] = body.results as Prediction[];
  expect(kept!.error).toContain('/data/local-files/?d=PATH');
  expect(outside!.error).toBeDefined();
});

test('a wrong key and a project without boxes are refused', async () => {
  const wrong = `Basic ${Buffer.from('lattice:wrong').toString('base64')}`;
  expect(await send('setup', { schema: CONFIG }, wrong)).toMatchObject({
    status: 401,
    body: { code: 'unauthorized' },
  });
  const boats = CONFIG.replace('"Car"', '"Boat"').replace('truck,bus', 'ship');
  const long = `<View>${' '.repeat(256 * 1_024)}</View>`;
  const faults: [string, string][] = [
    ['<View/>', 'has no RectangleLabels'],
    [boats, 'No label of the configuration is a class of yolov8n.pt (car, '],
    [CONFIG.replace('</View>', ''), 'no well-formed XML: Unclosed root tag (line 2).'],
    [long, 'at most 262144 characters'],
  ];
  for (const [label_config, reason] of faults) {
    const { status, body } = await predict([task('shapes.png')], { label_config });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'validation_failed' });
    expect(body.detail).toContain(reason);
    expect(body.errors).toMatchObject([{ pointer: '#/label_config' }]);
    const setup = await send('setup', { schema: label_config });
    expect(setup.body.errors).toMatchObject([{ pointer: '#/schema' }]);
  }
});

test('boxes of a project with two controls lie under the control that has their label', async () => {
  const label_config = `<View><Image name="image" value="$image"/>
    <RectangleLabels name="plates" toName="image"><Label value="Plate"/></RectangleLabels>
    <RectangleLabels name="vehicles" toName="image"><Label value="Car"/></RectangleLabels></View>`;
  const { status, body } = await predict([task('shapes.png')], { label_config });
  expect(status).toBe(200);
  const [shapes] = body.results as Prediction[];
  expect(shapes!.result.length).toBeGreaterThan(0);
  for (const region of shapes!.result) {
    expect(region).toMatchObject({
      from_name: 'vehicles',
      value: { rectanglelabels: ['Car'] },
    });
  }
});
