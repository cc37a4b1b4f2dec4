/** The detector that comes with the project, on the pictures that come with it. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { loadConfig } from '../../src/settings/config.js';
import { intersectionOverUnion, type Box } from '../../src/boxes/overlap.js';
import type { NativeWorker } from '../../src/execution/here/native-worker.js';
import { describeModel } from '../../src/native/core.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import { silent } from '../support/silent-logger.js';

const MODELS = join(PACKAGE_ROOT, 'models');
const FILE = join(MODELS, 'vehicles-v8n.onnx');

interface Truth {
  image: string;
  boxes: { class: string; box: [number, number, number, number] }[];
}
const read = (name: string) => JSON.parse(readFileSync(join(MODELS, name), 'utf8')) as unknown;

let scratch: string;
let detector: NativeWorker;
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-bundled-'));
  const config = loadConfig({ dataDir: scratch, modelsDir: join(scratch, 'none') }, {});
  detector = await openDetector(config, silent);
});
afterAll(async () => {
  await detector.close();
  rmSync(scratch, { recursive: true });
});

const detect = (path: string) =>
  detector.detect({
    path,
    kind: 'sync',
    options: { ...DEFAULT_PARAMETERS, modelName: 'yolov8n.pt', classes: null },
  });

it('stands for the default model name and passes its self-check', async () => {
  expect(detector.unhealthy()).toBeNull();
  expect((await detector.models())[0]).toMatchObject({
    name: 'yolov8n.pt',
    state: 'ready',
    bundled: true,
    licence: 'Apache-2.0',
  });
});

describe.each(['street', 'crossing'])('on %s', (name) => {
  const { image, boxes } = read(`demo/${name}.json`) as Truth;

  it('every vehicle is found, and nothing else', async () => {
    const { detections } = await detect(image);
    for (const truth of boxes) {
      const best = detections
        .filter((found) => found.class === truth.class)
        .map((found) => intersectionOverUnion(found.box as Box, truth.box));
      expect(Math.max(0, ...best)).toBeGreaterThanOrEqual(0.7);
    }
    expect(detections).toHaveLength(boxes.length);
  });
});

it('is the file that the manifest describes', async () => {
  const { models } = read('manifest.json') as {
    models: { file: string; sha256: string; classes: string[] }[];
  };
  const entry = models.find(({ file }) => file === 'vehicles-v8n.onnx');
  expect(createHash('sha256').update(readFileSync(FILE)).digest('hex')).toBe(entry?.sha256);
  expect(statSync(FILE).size).toBeLessThanOrEqual(13_000_000);
  expect((await describeModel(FILE)).metadata).toMatchObject({
    names: "{0: 'car', 1: 'motorcycle', 2: 'bus', 3: 'truck'}",
    stride: '32',
    task: 'detect',
    imgsz: '[640, 640]',
    license: 'Apache-2.0',
    data: expect.stringContaining('CC BY 4.0'),
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
});
