/** The worker of this process over the real addon: how it starts, and models by name. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/base/package.js';
import { loadConfig } from '../../../src/settings/config.js';
import type { NativeWorker } from '../../../src/execution/here/native-worker.js';
import { openDetector } from '../../../src/execution/here/open-detector.js';
import { hasTestdata, SHARED_TESTDATA, TEST_MODELS } from '../../support/service-process.js';
import { photoInSydney, SYDNEY } from '../../support/photo-in-sydney.js';
import { silent } from '../../support/silent-logger.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';

const TINY = join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx');
const VEHICLES = join(PACKAGE_ROOT, 'models/vehicles-v8n.onnx');
const scratch = mkdtempSync(join(tmpdir(), 'lattice-detector-'));
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

function config(flags: Record<string, unknown> = {}) {
  return loadConfig({ dataDir: scratch, modelsDir: TEST_MODELS, ...flags }, {});
}

/** A folder with these ONNX files, by stem. */
function modelsDir(files: Record<string, string>): string {
  const folder = mkdtempSync(join(scratch, 'models-'));
  for (const [stem, file] of Object.entries(files)) {
    copyFileSync(file, join(folder, `${stem}.onnx`));
  }
  return folder;
}

const ask = (detector: NativeWorker, modelName: string, deadlineMs = 0) =>
  detector.detect({
    path: 'shapes.png',
    kind: 'sync',
    deadlineMs,
    options: { modelName, ...DEFAULT_PARAMETERS, classes: null },
  });

test('a result says where the picture was taken, whether it is a file or was sent, whole or in tiles', async () => {
  const image = await photoInSydney();
  writeFileSync(join(scratch, 'sydney.jpg'), image);
  const path = 'sydney.jpg';
  const detector = await openDetector(config({ imageRoots: scratch }), silent);
  const options = { modelName: 'tiny-v8.pt', ...DEFAULT_PARAMETERS, classes: null };
  try {
    expect(await detector.detect({ path, kind: 'sync', options })).toMatchObject(SYDNEY);
    expect(await detector.detect({ path, image, kind: 'sync', options })).toMatchObject(SYDNEY);
    const tiled = { ...options, tiles: { columns: 2, rows: 2, overlap: 0.2 } };
    expect(await detector.detect({ path, kind: 'async', options: tiled })).toMatchObject(SYDNEY);
    const plain = await sharp(image).jpeg().toBuffer();
    const without = await detector.detect({ path, image: plain, kind: 'sync', options });
    expect(without).not.toHaveProperty('latitude');
    expect(without).not.toHaveProperty('longitude');
  } finally {
    await detector.close();
  }
});

test('no result has a position where the settings leave positions out', async () => {
  writeFileSync(join(scratch, 'sydney.jpg'), await photoInSydney());
  const settings = { imageRoots: scratch, positions: 'off' };
  const detector = await openDetector(config(settings), silent);
  const options = { modelName: 'tiny-v8.pt', ...DEFAULT_PARAMETERS, classes: null };
  try {
    const result = await detector.detect({ path: 'sydney.jpg', kind: 'async', options });
    expect(result.image.width).toBeGreaterThan(0);
    expect(result).not.toHaveProperty('latitude');
    expect(result).not.toHaveProperty('longitude');
  } finally {
    await detector.close();
  }
});

describe('start of the native worker', () => {
  it('refuses a GPU that was not built in', async () => {
    await expect(openDetector(config({ device: 'cuda' }), silent)).rejects.toMatchObject({
      name: 'LatticeError',
      message: expect.stringContaining('LATTICE_DEVICE'),
    });
  });

  it('unloads models to stay within the memory limit', async () => {
    const folder = modelsDir({ yolov8n: TINY, north: VEHICLES, south: VEHICLES });
    const detector = await openDetector(config({ modelsDir: folder, modelMemoryMb: 250 }), silent);
    try {
      const asked = Array.from({ length: 12 }, (_, turn) =>
        ask(detector, ['north.pt', 'south.pt', 'yolov8n.pt'][turn % 3] ?? ''),
      );
      const found = (await Promise.all(asked)).map((result) => result.detections.length);
      expect(found.filter((_, turn) => turn % 3 === 2)).toEqual([6, 6, 6, 6]);
      expect(found.filter((_, turn) => turn % 3 === 0)).toEqual(
        found.filter((_, turn) => turn % 3 === 1),
      );
      const states = (await detector.models()).map(({ name, state }) => `${name} ${state}`);
      expect(states).toContain('yolov8n.pt ready');
      expect(states.filter((each) => /^(north|south)\.pt ready$/.test(each))).toHaveLength(1);
    } finally {
      await detector.close();
    }
  });

  it('tells a caller to come again where the load takes longer than the deadline, and goes on', async () => {
    const folder = modelsDir({ yolov8n: TINY, other: TINY });
    const detector = await openDetector(config({ modelsDir: folder }), silent);
    try {
      await expect(ask(detector, 'other.pt', 40)).rejects.toMatchObject({
        code: 'model_not_ready',
        retryAfterS: 2,
        message: expect.stringContaining("'other.pt' is being loaded"),
      });
      expect((await ask(detector, 'other.pt')).detections).toHaveLength(6);
      expect((await ask(detector, 'other.pt')).precision).toBeDefined();
    } finally {
      await detector.close();
    }
  });

  it('starts unhealthy with a damaged default model; a good file makes it healthy', async () => {
    const folder = modelsDir({ good: TINY });
    writeFileSync(join(folder, 'yolov8n.onnx'), 'no network');
    const detector = await openDetector(config({ modelsDir: folder }), silent);
    try {
      expect(detector.unhealthy()).toMatchObject({ code: 'invalid_model' });
      await expect(ask(detector, 'yolov8n.pt')).rejects.toMatchObject({ code: 'invalid_model' });
      expect(await detector.models()).toMatchObject([
        { name: 'yolov8n.pt', state: 'refused', reason: expect.stringMatching(/./) },
        { name: 'good.pt', state: 'available', bundled: false },
        { name: 'vehicles-v8n.pt', state: 'available', bundled: true },
      ]);
      expect((await ask(detector, 'good.pt')).detections).toHaveLength(6);
      copyFileSync(TINY, join(folder, 'yolov8n.onnx'));
      expect((await ask(detector, 'yolov8n.pt')).detections).toHaveLength(6);
      expect(detector.unhealthy()).toBeNull();
    } finally {
      await detector.close();
    }
  });

  it('loads the models of the list at the start; only a request that waited for one says so', async () => {
    const folder = modelsDir({ yolov8n: TINY, first: TINY, second: TINY, third: TINY });
    writeFileSync(join(folder, 'broken.onnx'), 'no network');
    const told: string[] = [];
    const note = (fields: object, message: string) => {
      const { model, code } = fields as { model?: string; code?: string };
      if (message.includes('preload')) told.push(`${model ?? ''} ${code ?? 'loaded'}`);
    };
    const detector = await openDetector(
      config({ modelsDir: folder }),
      { ...silent, info: note, warn: note },
      { preload: ['second', 'absent', 'broken.pt', 'first.pt'] },
    );
    try {
      expect(told).toEqual([
        'second.pt loaded',
        'absent.pt unknown_model',
        'broken.pt invalid_model',
        'first.pt loaded',
      ]);
      for (const name of ['yolov8n.pt', 'first.pt', 'second.pt']) {
        expect((await ask(detector, name)).timingsMs).not.toHaveProperty('model_load');
      }
      const { timingsMs, processingTimeMs } = await ask(detector, 'third.pt');
      expect(timingsMs.model_load).toBeGreaterThan(1);
      expect(timingsMs.model_load).toBeLessThan(processingTimeMs);
      expect((await ask(detector, 'third.pt')).timingsMs).not.toHaveProperty('model_load');
    } finally {
      await detector.close();
    }
  });

  it('answers concurrent first requests for several models', async () => {
    const folder = modelsDir({ a: TINY, b: TINY, yolov8n: TINY });
    const detector = await openDetector(config({ modelsDir: folder }), silent);
    try {
      const names = ['a.pt', 'b.pt', 'a.pt', 'yolov8n.pt', 'b.pt', 'a.pt'];
      const results = await Promise.all(names.map((name) => ask(detector, name)));
      expect(results.map(({ model }) => model)).toEqual(names);
      for (const { detections } of results) expect(detections).toEqual(results[0]!.detections);
    } finally {
      await detector.close();
    }
  });
});

const models = join(SHARED_TESTDATA, 'models');

describe.skipIf(!hasTestdata)('models of others', () => {
  it('that find nothing are refused; as default model they make the worker unhealthy', async () => {
    const folder = modelsDir({ yolov8n: join(models, 'zero-scores-int8.onnx') });
    const detector = await openDetector(config({ modelsDir: folder }), silent);
    try {
      expect(detector.unhealthy()?.message).toContain('sees nothing');
      await expect(ask(detector, 'yolov8n.pt')).rejects.toThrow('sees nothing');
    } finally {
      await detector.close();
    }
  });

  it('for another task are refused; a good model with other classes works beside them', async () => {
    const detector = await openDetector(config({ modelsDir: models }), silent);
    try {
      for (const name of ['yolov8n-seg-uint8.pt', 'yolov8n-pose-uint8.pt']) {
        await expect(ask(detector, name)).rejects.toMatchObject({ code: 'invalid_model' });
      }
      expect(await detector.prepare('kitti-3class-int8.pt')).toMatchObject({
        state: 'ready',
        classes: ['Car', 'Pedestrian', 'Cyclist'],
      });
      expect(detector.unhealthy()).toBeNull();
    } finally {
      await detector.close();
    }
    // The last one is compiled in bf16, compared with f32, and compiled in f32: 24 s on two idle cores.
  });
});
