import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NativeModel } from '../../src/native/contract.js';
import { buildInfo, type Core, type RawResult } from '../../src/native/core.js';
import { codeOf, openTestCore, ROOT, runAll, sharedData, taskFor } from './open-test-core.js';

interface Shapes {
  width: number;
  height: number;
  boxes: { class: string; box: [number, number, number, number] }[];
}

const shapes = JSON.parse(
  readFileSync(join(ROOT, 'models', 'demo', 'shapes.json'), 'utf8'),
) as Shapes;

const rows = ({ boxes }: RawResult) =>
  Array.from({ length: boxes.length / 6 }, (_, i) => boxes.slice(6 * i, 6 * i + 6));

let core: Core;
let model: NativeModel;

beforeAll(async () => {
  ({ core, model } = await openTestCore());
});
afterAll(() => core.close());

describe('detection through the addon', () => {
  it('finds every shape of the demo picture', async () => {
    const result = await core.run(taskFor(model));
    expect(result).toMatchObject({
      width: shapes.width,
      height: shapes.height,
      batch: 1,
      truncated: false,
    });
    const found = rows(result);
    expect(found).toHaveLength(shapes.boxes.length);
    for (const { class: name, box } of shapes.boxes) {
      const match = found.find(
        (row) =>
          model.names[row[5]!] === name && box.every((side, i) => Math.abs(side - row[i]!) <= 16),
      );
      expect(match, `${name} at ${box.join()}`).toBeDefined();
    }
    const scores = found.map((row) => row[4]!);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const { queue, decode, preprocess, inference, postprocess } = result.timings;
    expect(queue + decode + preprocess + inference + postprocess).toBeLessThanOrEqual(
      result.totalMs + 0.01,
    );
  });

  it('gives the same bytes alone, in a crowd, by path and by pixels', async () => {
    const alone = await core.run(taskFor(model));
    const crowd = await Promise.all(
      runAll(
        core,
        Array.from({ length: 40 }, (_, i) =>
          taskFor(model, { kind: i % 3 === 0 ? 'sync' : 'async', priority: i % 11 }),
        ),
      ),
    );
    for (const { boxes } of crowd) expect(boxes).toEqual(alone.boxes);

    const { default: sharp } = await import('sharp');
    const file = join(ROOT, 'models', 'demo', 'shapes.png');
    const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({
      resolveWithObject: true,
    });
    const pixels = { data, width: info.width, height: info.height };
    expect((await core.run(taskFor(model, { path: null, pixels }))).boxes).toEqual(alone.boxes);
  });

  it('applies threshold, class filter and count', async () => {
    const car = model.names.indexOf('car');
    const cars = await core.run(taskFor(model, { classIds: [car] }));
    expect(rows(cars).map((row) => row[5])).toEqual([car, car, car]);
    expect((await core.run(taskFor(model, { classIds: [] }))).boxes).toHaveLength(0);
    expect((await core.run(taskFor(model, { confidence: 1 }))).boxes).toHaveLength(0);
    const two = await core.run(taskFor(model, { maxDetections: 2 }));
    expect(rows(two)).toHaveLength(2);
    expect(two.truncated).toBe(true);
  });

  it('fails an image with its own code and leaves the neighbours alone', async () => {
    const [missing, outside, text, noModel, good] = await Promise.allSettled(
      runAll(core, [
        taskFor(model, { path: 'none.png' }),
        taskFor(model, { path: '../tiny/tiny-v8.onnx' }),
        taskFor(model, { path: 'shapes.json' }),
        taskFor(model, { modelId: 999 }),
        taskFor(model),
      ]),
    );
    expect(missing).toMatchObject({ reason: { code: 'image_not_found' } });
    expect(outside).toMatchObject({ reason: { code: 'path_not_allowed' } });
    expect(text).toMatchObject({ reason: { code: 'unsupported_image_format' } });
    expect(noModel).toMatchObject({ reason: { code: 'unknown_model' } });
    expect(good).toMatchObject({ status: 'fulfilled' });
  });

  it('keeps deadlines and cancels', async () => {
    const late = core.run(taskFor(model, { kind: 'async', deadlineMs: 0.001 }));
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const many = runAll(
      core,
      Array.from({ length: 30 }, (_, i) => taskFor(model, { id: 1000 + i, kind: 'async' })),
    );
    expect(core.cancel(Array.from({ length: 30 }, (_, i) => 1000 + i))).toBeGreaterThan(0);
    const ends = await Promise.allSettled(many);
    const codes = ends.map(codeOf);
    expect(new Set(codes)).toEqual(new Set(['cancelled']));
  });

  it('reads files by the rules of image paths', async () => {
    const file = join(ROOT, 'models', 'demo', 'shapes.png');
    expect(await core.readFile('shapes.png')).toEqual(readFileSync(file));
    await expect(core.readFile('../tiny/tiny-v8.onnx')).rejects.toMatchObject({
      code: 'path_not_allowed',
    });
  });

  it('says what it was built with and what it is doing', async () => {
    expect(buildInfo()).toMatchObject({
      version: '0.1.0',
      openvino: expect.stringMatching(/^\d{4}\./),
    });
    // A cancelled image answers at once; the decode it had begun ends by itself.
    await expect
      .poll(() => core.stats())
      .toMatchObject({ queuedSync: 0, decoding: 0, inferring: 0 });
  });
});

describe('models', () => {
  it('are described and can be unloaded', async () => {
    const again = await core.loadModel(join(ROOT, 'models', 'tiny', 'tiny-v8.onnx'));
    expect(again).toMatchObject({
      task: 'detect',
      names: ['car', 'motorcycle', 'bus', 'truck'],
      inputWidth: 640,
      inputHeight: 640,
      device: 'CPU',
      precision: 'f32',
    });
    expect(again.modelId).not.toBe(model.modelId);
    core.unloadModel(again.modelId);
    await expect(core.run(taskFor(again))).rejects.toMatchObject({ code: 'unknown_model' });
  });

  it('that are missing or no model are refused', async () => {
    await expect(core.loadModel('/nonexistent.onnx')).rejects.toMatchObject({
      code: 'unknown_model',
    });
    await expect(core.loadModel(join(ROOT, 'package.json'))).rejects.toMatchObject({
      code: 'invalid_model',
    });
  });
});

const shared = sharedData();
describe.skipIf(shared === null)('a public network on real photos', () => {
  it('finds the bus and the four people, and refuses other tasks', async () => {
    const folder = shared ?? '';
    const { core: real, model: network } = await openTestCore(
      { roots: [join(folder, 'images')] },
      join(folder, 'models', 'yolov8n.onnx'),
    );
    const result = await real.run(taskFor(network, { path: 'bus.jpg', confidence: 0.5 }));
    const names = rows(result).map((row) => network.names[row[5]!]);
    expect(names.toSorted()).toEqual(['bus', 'person', 'person', 'person']);
    await expect(
      real.loadModel(join(folder, 'models', 'yolov8n-seg-uint8.onnx')),
    ).rejects.toMatchObject({ code: 'invalid_model', message: expect.stringContaining('segment') });
    await real.close();
  });
});
