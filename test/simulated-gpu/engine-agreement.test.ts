/** Engines whose boxes are wrong, from the load to the list of models. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { Executor } from '../../src/execution/executor.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import type { NativeWorker } from '../../src/execution/here/native-worker.js';
import { loadConfig } from '../../src/settings/config.js';
import { compose, get } from '../support/composed-app.js';
import { CELLS, centreAndSize, layoutNetwork, placeOf } from '../support/layout-models.js';
import { bytesOf, onnxFile } from '../support/onnx-file.js';
import { writeOwnModel } from '../support/own-model.js';
import { silent } from '../support/silent-logger.js';

vi.mock('../../src/native/addon-loader.js', () => {
  const path = join(PACKAGE_ROOT, 'build/simulated-gpu/Release/lattice.node');
  return { loadAddon: () => createRequire(import.meta.url)(path) as object };
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-agreement-'));
  writeOwnModel(join(folder, 'models'));
  // Its network is cut, so that it computes in FP16; the other one runs whole.
  copyFileSync(
    join(PACKAGE_ROOT, 'models/vehicles-v8n.onnx'),
    join(folder, 'models', 'depot.onnx'),
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const worker: { open: NativeWorker | null } = { open: null };
afterEach(async () => {
  delete process.env.LATTICE_SIMULATED_WRONG;
  await worker.open?.close();
  worker.open = null;
});

/** A start of the service; engines give wrong boxes if asked. */
async function start(wrong = false): Promise<NativeWorker> {
  await worker.open?.close();
  if (wrong) process.env.LATTICE_SIMULATED_WRONG = '1';
  else delete process.env.LATTICE_SIMULATED_WRONG;
  const config = loadConfig(
    {
      device: 'cuda',
      gpuBatches: '1',
      threads: 2,
      imageRoots: folder,
      modelsDir: join(folder, 'models'),
      engineCacheDir: join(folder, 'engines'),
    },
    {},
  );
  worker.open = await openDetector(config, silent);
  // An engine that is built first does not hold up the start.
  await worker.open.prepare('yolov8n.pt');
  return worker.open;
}

async function listed(detector: NativeWorker, name: string) {
  const executor = new Executor({ whyNoWorker: () => '', files: detector, syncQueue: 1 });
  executor.join(detector);
  const { body } = await get(compose({}, { detector: executor }), '/v1/models');
  return (body.models as { name: string }[]).find((model) => model.name === name);
}

const REFUSED = {
  code: 'invalid_model',
  message: expect.stringMatching(
    /'own.pt' gives other boxes on Simulated GPU .*LATTICE_DEVICE=cpu/,
  ) as string,
};

test('an engine is compared with f32 once, and its score is listed', async () => {
  const first = await start();
  expect(await listed(first, 'depot.pt')).toMatchObject({ state: 'available', agreement: null });
  const { agreement, precision } = await first.prepare('depot.pt');
  expect(precision).toBe('fp16');
  expect(agreement).toBeGreaterThanOrEqual(0.98);
  expect(await listed(first, 'depot.pt')).toMatchObject({ state: 'ready', agreement });
  // Compared again, it would be refused.
  const later = await start(true);
  await later.prepare('depot.pt');
  expect(await listed(later, 'depot.pt')).toMatchObject({ state: 'ready', agreement });
});

test('weights in a file beside the model reach the engine', async () => {
  const network = layoutNetwork({
    names: ['car', 'bus'],
    rows: 6,
    columns: CELLS,
    at: (row, anchor) => (row < 4 ? centreAndSize(anchor, row) : placeOf(anchor).score),
  });
  const models = join(folder, 'models');
  const tensors = network.tensors.map((tensor) =>
    tensor.name === 'table'
      ? { ...tensor, beside: { location: 'beside.onnx.data', offset: 0 } }
      : tensor,
  );
  writeFileSync(join(models, 'beside.onnx'), onnxFile({ ...network, tensors }));
  const table = network.tensors.find(({ name }) => name === 'table');
  writeFileSync(join(models, 'beside.onnx.data'), bytesOf(table!));
  const detector = await start();
  expect(await detector.prepare('beside.pt')).toMatchObject({ state: 'ready', agreement: 1 });
});

test('an engine with other boxes is refused until it is built anew', async () => {
  await start(); // the engine of the default model
  const first = await start(true);
  await expect(first.prepare('own.pt')).rejects.toMatchObject(REFUSED);
  expect(await listed(first, 'own.pt')).toMatchObject({
    state: 'refused',
    agreement: null,
    reason: REFUSED.message,
  });
  const later = await start();
  await expect(later.prepare('own.pt')).rejects.toMatchObject(REFUSED);
  for (const name of readdirSync(join(folder, 'engines'))) {
    if (name.startsWith('own_')) rmSync(join(folder, 'engines', name));
  }
  const anew = await start();
  expect(await anew.prepare('own.pt')).toMatchObject({ state: 'ready', agreement: 1 });
});
