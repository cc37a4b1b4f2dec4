/** A model serves with the engine of its smallest batches; the others follow. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import type { NativeWorker } from '../../src/execution/here/native-worker.js';
import { loadConfig } from '../../src/settings/config.js';
import { eventual } from '../support/eventually.js';
import { TEST_MODELS } from '../support/service-process.js';
import { silent } from '../support/silent-logger.js';

vi.mock('../../src/native/addon-loader.js', () => {
  const path = join(PACKAGE_ROOT, 'build/simulated-gpu/Release/lattice.node');
  return { loadAddon: () => createRequire(import.meta.url)(path) as object };
});

const MODEL = 'yolov8n.pt';

let folder: string;
const open: { worker: NativeWorker | null } = { worker: null };
let warnings: { fields: object; message: string }[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-batches-'));
  warnings = [];
});
afterEach(async () => {
  delete process.env.LATTICE_SIMULATED_WRONG;
  await open.worker?.close();
  open.worker = null;
  rmSync(folder, { recursive: true });
});

async function start(): Promise<NativeWorker> {
  await open.worker?.close();
  const config = loadConfig(
    {
      device: 'cuda',
      gpuBatches: '1,4,8',
      threads: 2,
      imageRoots: PACKAGE_ROOT,
      modelsDir: TEST_MODELS,
      engineCacheDir: join(folder, 'engines'),
    },
    {},
  );
  open.worker = await openDetector(config, {
    ...silent,
    warn: (fields, message) => {
      warnings.push({ fields, message });
    },
  });
  return open.worker;
}

const engines = () =>
  readdirSync(join(folder, 'engines')).filter((name) => name.endsWith('.engine'));

let id = 0;
const detect = (worker: NativeWorker) =>
  worker.detect({
    id: (id += 1),
    path: 'models/demo/shapes.png',
    kind: 'async',
    options: { modelName: MODEL, ...DEFAULT_PARAMETERS, confidence: 0.3, classes: null },
  });

const reasonOf = async (worker: NativeWorker) =>
  (await worker.models()).find(({ name }) => name === MODEL)?.reason;

test('requests are answered while larger batches are built, and by those afterwards', async () => {
  const first = await start();
  const { reason } = await first.prepare(MODEL);
  expect(reason).toContain('batches of 1 at most');
  let answered = 0;
  let reasonNow = reason;
  let memory = 0;
  while (reasonNow !== null) {
    const { detections } = await detect(first);
    expect(detections.length).toBeGreaterThan(0);
    answered += 1;
    const described = (await first.models()).find(({ name }) => name === MODEL);
    reasonNow = described?.reason ?? null;
    memory = described?.memoryBytes ?? 0;
  }
  expect(answered).toBeGreaterThan(1);
  expect(engines()).toHaveLength(3);
  expect(memory).toBeGreaterThan(0);
  const many = await Promise.all(Array.from({ length: 24 }, () => detect(first)));
  const boxes = new Set(many.map(({ detections }) => detections.length));
  expect(boxes.size).toBe(1);
  // Kept engines are all there before the first request.
  const times = () => engines().map((name) => statSync(join(folder, 'engines', name)).ctimeMs);
  const later = await start();
  expect((await later.prepare(MODEL)).reason).toBeNull();
  const before = times();
  await detect(later);
  expect(times()).toEqual(before);
  expect(warnings).toEqual([]);
});

test('a larger batch size with other boxes is never used, and the model says so', async () => {
  process.env.LATTICE_SIMULATED_WRONG = '4';
  const worker = await start();
  expect(await worker.prepare(MODEL)).toMatchObject({ state: 'ready', agreement: 1 });
  const refused =
    /^It runs batches of 1 at most, .*of 4 failed: .*gives other boxes .*batches of 4/;
  await eventual(() => reasonOf(worker)).toMatch(refused);
  expect(warnings).toMatchObject([{ fields: { batch: 4, largest: 1, code: 'invalid_model' } }]);
  const many = await Promise.all(Array.from({ length: 12 }, () => detect(worker)));
  expect(many.every(({ detections }) => detections.length > 0)).toBe(true);
  delete process.env.LATTICE_SIMULATED_WRONG;
  // The score is beside the engine.
  const later = await start();
  await eventual(() => reasonOf(later)).toMatch(refused);
  expect(engines()).toHaveLength(2);
});

test('a stop ends the build of a larger batch size', async () => {
  const worker = await start();
  expect((await worker.prepare(MODEL)).reason).toContain('at most');
  await worker.close();
  expect(engines().length).toBeLessThan(3);
});
