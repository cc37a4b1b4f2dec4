/** A model with a confidence threshold of its own, from `lattice model add` to the boxes, by every way there is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { run } from '../cli/run.js';
import { writeOwnModel } from '../support/own-model.js';
import { FEW_THREADS, PICTURE } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

let folder: string;
let service: ServiceProcess;
let client: LatticeClient;
/** Between the surest boxes of the picture and the others. */
let threshold: number;
let above: number;

const image_path = 'shapes.png';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-threshold-'));
  writeOwnModel(folder);
  service = await startService({ env: { ...FEW_THREADS, LATTICE_MODELS_DIR: folder } });
  client = new LatticeClient({ url: service.url });
  const all = await client.detect({ image_path, model_name: 'own', confidence_threshold: 0 });
  const scores = [...new Set(all.detections.map(({ confidence }) => confidence))];
  const [first = 1, second = 0] = scores.sort((a, b) => b - a);
  threshold = Number(((first + second) / 2).toFixed(6));
  above = all.detections.filter(({ confidence }) => confidence > threshold).length;
  expect([above, all.detections.length]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(above).toBeLessThan(all.detections.length);
  const file = join(folder, 'own.onnx');
  const flags = ['--name', 'sure', '--threshold', String(threshold), '--models-dir', folder];
  const added = await run('model', 'add', file, ...flags);
  expect(added).toMatchObject({ code: 0 });
  expect(added.out).toContain(`threshold  ${threshold}`);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('it is in the lists of models, the others have 0.5', async () => {
  const thresholds = new Map(
    (await client.models()).map((each) => [each.name, each.confidence_threshold]),
  );
  expect(thresholds.get('sure.pt')).toBe(threshold);
  expect(thresholds.get('own.pt')).toBe(0.5);
  expect(thresholds.get('yolov8n.pt')).toBe(0.5);
  const list = ['model', 'list', '--models-dir', folder];
  expect(JSON.parse((await run(...list, '--json')).out)).toContainEqual(
    expect.objectContaining({ name: 'sure.pt', confidence_threshold: threshold }),
  );
  expect((await run(...list)).out).toMatch(new RegExp(`^sure\\.pt .* ${threshold} `, 'm'));
});

test('a detection that names no threshold uses it, and says so', async () => {
  for (const asked of [{}, { confidence_threshold: null }]) {
    const answer = await client.detect({ image_path, model_name: 'sure', ...asked });
    expect(answer).toMatchObject({ total_count: above, confidence_threshold: threshold });
  }
  const named = await client.detect({ image_path, model_name: 'sure', confidence_threshold: 0.2 });
  expect(named.confidence_threshold).toBe(0.2);
  expect(named.total_count).toBeGreaterThan(above);
  const standard = await client.detect({ image_path, model_name: 'own' });
  expect(standard.confidence_threshold).toBe(0.5);
});

test('a job keeps it', async () => {
  const { job_id } = await client.submit({
    ...{ job_type: 'batch_detect', image_paths: [image_path], model_name: 'sure.pt' },
  });
  await client.waitFor(job_id);
  const summary = await client.summary(job_id);
  expect(summary).toMatchObject({
    total_count: above,
    request: { confidence_threshold: threshold },
  });
});

test('lattice detect uses it without a service', async () => {
  const args = ['detect', PICTURE, '--model', 'sure', '--json', '--models-dir', folder];
  const boxes = async (...flags: string[]) =>
    (JSON.parse((await run(...args, ...flags)).out) as { detections: unknown[] }).detections;
  expect(await boxes()).toHaveLength(above);
  expect((await boxes('--confidence', '0.2')).length).toBeGreaterThan(above);
});

test('a threshold that is none is refused', async () => {
  const add = ['model', 'add', join(folder, 'own.onnx'), '--name', 'x', '--models-dir', folder];
  expect(await run(...add, '--threshold', '35')).toMatchObject({
    code: 2,
    err: expect.stringContaining('a number from 0 to 1'),
  });
});
