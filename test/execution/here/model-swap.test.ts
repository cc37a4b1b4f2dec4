/** Model files that are replaced, removed and damaged while the worker of this process runs them. */
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LatticeError } from '../../../src/api/errors.js';
import type { NamedVersion } from '../../../src/api/schemas/model.js';
import { versionOf } from '../../../src/api/version-of.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';
import type { NativeWorker } from '../../../src/execution/here/native-worker.js';
import { openDetector } from '../../../src/execution/here/open-detector.js';
import { loadConfig } from '../../../src/settings/config.js';
import { eventual, eventually } from '../../support/eventually.js';
import { OWN_CLASSES, ownModel } from '../../support/own-model.js';
import { TEST_MODELS } from '../../support/service-process.js';

const FIRST = ownModel(OWN_CLASSES);
const OTHER_CLASSES = ['auto', 'moto', 'bus', 'truck'];
const OTHER = ownModel(OTHER_CLASSES);

const scratch = mkdtempSync(join(tmpdir(), 'lattice-swap-'));
let folder: string;
let log: string[];
let worker: NativeWorker;

beforeEach(async () => {
  folder = mkdtempSync(join(scratch, 'models-'));
  copyFileSync(join(TEST_MODELS, 'yolov8n.onnx'), join(folder, 'yolov8n.onnx'));
  put('own', FIRST);
  log = [];
  const note = (_: object, message: string) => void log.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  const flags = { dataDir: scratch, modelsDir: folder, precision: 'f32' };
  worker = await openDetector(loadConfig(flags, {}), logger, { preload: ['own'] });
});
afterEach(() => worker.close());
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

/** As `lattice model add` does: whole or not at all. */
function put(stem: string, content: Buffer | string): void {
  const path = join(folder, `${stem}.onnx`);
  writeFileSync(`${path}.part`, content);
  renameSync(`${path}.part`, path);
}

async function classesOf(modelName: string, model?: NamedVersion): Promise<string[]> {
  const options = { modelName, ...DEFAULT_PARAMETERS, classes: null };
  const wanted = model === undefined ? {} : { model };
  const result = await worker.detect({ path: 'shapes.png', kind: 'async', options, ...wanted });
  return [...new Set(result.detections.map((found) => found.class))].sort();
}

const described = async (name = 'own.pt') =>
  (await worker.models()).find((model) => model.name === name);

async function versionNow(): Promise<NamedVersion> {
  const model = await described();
  const version = model && versionOf(model);
  if (!version) throw new Error('The model is not loaded.');
  return version;
}

describe('a model file that is replaced while it is loaded', () => {
  it('is taken within seconds, without a request for it', async () => {
    const before = await described();
    put('own', OTHER);
    await eventually(async () => {
      expect(await described()).toMatchObject({ state: 'ready', classes: OTHER_CLASSES });
    });
    expect((await described())?.digest).not.toBe(before?.digest);
    expect(await classesOf('own.pt')).toEqual([...OTHER_CLASSES].sort());
    expect(log).toContain('a model file was replaced');
    expect(worker.stats()).toMatchObject({ modelSwaps: 1, refusedModelFiles: 0 });
  });

  it('is taken by a reload when that has ended, and answers all the time', async () => {
    put('own', OTHER);
    const reload = worker.reloadModels().then(() => true);
    const seen = new Set<string>();
    for (
      let isDone = false;
      !isDone;
      isDone = await Promise.race([reload, Promise.resolve(false)])
    ) {
      seen.add((await classesOf('own.pt')).join());
    }
    expect(await classesOf('own.pt')).toEqual([...OTHER_CLASSES].sort());
    expect(seen).toContain([...OWN_CLASSES].sort().join());
  });

  it('goes on answering where the new file cannot be used, and says so', async () => {
    put('own', 'no network');
    await worker.reloadModels();
    expect(await classesOf('own.pt')).toEqual([...OWN_CLASSES].sort());
    expect(await described()).toMatchObject({
      state: 'ready',
      classes: OWN_CLASSES,
      reason: expect.stringMatching(
        /^The file was replaced, and the new one cannot be used; .* ONNX/,
      ),
    });
    expect(log.filter((each) => each.includes('cannot be used'))).toHaveLength(1);
    expect(worker.stats()).toMatchObject({ modelSwaps: 0, refusedModelFiles: 1 });
    put('own', OTHER);
    await worker.reloadModels();
    expect(await described()).toMatchObject({ reason: null, classes: OTHER_CLASSES });
    expect(worker.stats()).toMatchObject({ modelSwaps: 1, refusedModelFiles: 0 });
  });

  it('is not taken while it is written', async () => {
    const path = join(folder, 'own.onnx');
    writeFileSync(path, OTHER.subarray(0, 1_000));
    const step = Math.ceil(OTHER.length / 8);
    for (let at = 1_000; at < OTHER.length; at += step) {
      await worker.refreshModels();
      expect(await described()).toMatchObject({ classes: OWN_CLASSES, reason: null });
      appendFileSync(path, OTHER.subarray(at, at + step));
    }
    await eventual(async () => (await described())?.classes).toEqual(OTHER_CLASSES);
    expect(log.filter((each) => each.includes('cannot be used'))).toEqual([]);
  });

  it('stays as it is where the same bytes are written again', async () => {
    put('own', FIRST);
    await worker.reloadModels();
    expect(await classesOf('own.pt')).toEqual([...OWN_CLASSES].sort());
    expect(worker.stats().modelSwaps).toBe(0);
  });
});

describe('a model file that is removed', () => {
  it('is no model any more', async () => {
    rmSync(join(folder, 'own.onnx'));
    await worker.reloadModels();
    expect(await described()).toBeUndefined();
    await expect(classesOf('own.pt')).rejects.toMatchObject({ code: 'unknown_model' });
    put('own', OTHER);
    expect(await classesOf('own.pt')).toEqual([...OTHER_CLASSES].sort());
  });

  it('leaves the default name to the bundled model, until there is one again', async () => {
    rmSync(join(folder, 'yolov8n.onnx'));
    await worker.reloadModels();
    expect(await described('yolov8n.pt')).toMatchObject({ state: 'ready', bundled: true });
    put('yolov8n', OTHER);
    await worker.reloadModels();
    expect(await described('yolov8n.pt')).toMatchObject({ bundled: false, classes: OTHER_CLASSES });
    expect(worker.unhealthy()).toBeNull();
  });
});

describe('the version that a job began with', () => {
  it('is kept as long as it is named, and then gone', async () => {
    const version = await versionNow();
    worker.keepModels([version]);
    put('own', OTHER);
    await worker.reloadModels();
    expect(await classesOf('own.pt')).toEqual([...OTHER_CLASSES].sort());
    expect(await classesOf('own.pt', version)).toEqual([...OWN_CLASSES].sort());
    rmSync(join(folder, 'own.onnx'));
    await worker.reloadModels();
    expect(await classesOf('own.pt', version)).toEqual([...OWN_CLASSES].sort());
    worker.keepModels([]);
    put('own', OTHER);
    await expect(classesOf('own.pt', version)).rejects.toMatchObject({ code: 'model_changed' });
  });

  it('is taken from a file that the worker has not looked at yet', async () => {
    const version = await versionNow();
    put('own', OTHER);
    await worker.reloadModels();
    put('own', FIRST);
    expect(await classesOf('own.pt', version)).toEqual([...OWN_CLASSES].sort());
  });

  it('outlives its replacement until the last image, also without being kept', async () => {
    const asked = Array.from({ length: 20 }, () => classesOf('own.pt'));
    put('own', OTHER);
    await worker.reloadModels();
    const outcomes = await Promise.all(asked);
    for (const classes of outcomes)
      expect([OWN_CLASSES, OTHER_CLASSES].map((each) => [...each].sort())).toContainEqual(classes);
  });
});

it('a stop during a replacement is no fault', async () => {
  put('own', OTHER);
  const reload = worker.reloadModels().catch((error: unknown) => error);
  await worker.close();
  const end = await reload;
  expect(end === undefined || (end instanceof LatticeError && end.code === 'shutting_down')).toBe(
    true,
  );
  expect(log.filter((each) => each.includes('cannot be used'))).toEqual([]);
});
