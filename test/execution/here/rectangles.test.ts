import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';
import { PACKAGE_ROOT } from '../../../src/base/package.js';
import { loadConfig } from '../../../src/settings/config.js';
import { openDetector } from '../../../src/execution/here/open-detector.js';
import { silent } from '../../support/silent-logger.js';

const DEMO = join(PACKAGE_ROOT, 'models/demo');
const OPTIONS = { ...DEFAULT_PARAMETERS, modelName: 'yolov8n.pt', classes: null };

async function open(rectangles: string) {
  const warnings: object[] = [];
  const config = loadConfig({ rectangles, device: 'cpu', threads: 2, imageRoots: DEMO }, {});
  const detector = await openDetector(config, {
    ...silent,
    warn: (fields: object) => warnings.push(fields),
  });
  return { detector, warnings };
}

test('the setting reaches the network: the same vehicles with slightly different boxes', async () => {
  const street = JSON.parse(readFileSync(join(DEMO, 'street.json'), 'utf8')) as {
    boxes: { box: number[] }[];
  };
  const found = [];
  for (const rectangles of ['off', 'auto', '640x480']) {
    const { detector, warnings } = await open(rectangles);
    const request = { path: 'street.jpg', options: OPTIONS, kind: 'sync' as const };
    const { detections } = await detector.detect(request);
    await detector.close();
    expect(warnings).toEqual([]);
    for (const { box } of street.boxes) {
      const near = detections.some((each) => box.every((s, i) => Math.abs(s - each.box[i]!) <= 8));
      expect(near, `'${rectangles}': a vehicle at ${box.join()}`).toBe(true);
    }
    found.push(detections.map(({ box }) => box));
  }
  expect(found[1]).not.toEqual(found[0]);
  // The photo is 4:3.
  expect(found[2]).toEqual(found[1]);
});

test('a rectangle that the model cannot use is logged, and the model runs without it', async () => {
  const { detector, warnings } = await open('640x640,640x400');
  expect(detector.unhealthy()).toBeNull();
  await detector.close();
  expect(warnings).toEqual([
    { model: 'vehicles-v8n.onnx', reason: expect.stringContaining('640 x 400: sides must be') },
    { model: 'vehicles-v8n.onnx', reason: expect.stringContaining('640 x 640, is not larger') },
  ]);
});
