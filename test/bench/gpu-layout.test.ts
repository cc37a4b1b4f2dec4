import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Plan } from '../../bench/gpu/plan.js';
import { openRig, pixelTask } from '../../bench/gpu/rig.js';
import { v8Layout } from '../../bench/gpu/v8-layout.js';

it('a layout with arbitrary weights is a detector that finds next to nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-layout-'));
  const file = join(folder, 'layout.onnx');
  writeFileSync(file, v8Layout('n'));
  {
    const plan = {
      device: 'cpu',
      threads: 2,
      engineCache: '',
      gpuBatches: [1],
      photoRoot: folder,
    } as Plan;
    await using rig = openRig(plan);
    const model = await rig.core.loadModel(file);
    expect(model).toMatchObject({ task: 'detect', inputWidth: 640, inputHeight: 640, stride: 32 });
    expect(model.names).toHaveLength(80);
    const boxesAbove = async (confidence: number) => {
      const { boxes } = await rig.core.run({ ...pixelTask(model, 'sync'), confidence });
      return boxes;
    };
    expect(await boxesAbove(0.25)).toHaveLength(0);
    const boxes = await boxesAbove(1e-5);
    expect(boxes.length).toBeGreaterThan(0);
    for (const value of boxes) expect(value).toSatisfy(Number.isFinite);
  }
  rmSync(folder, { recursive: true });
});

it.each([
  ['n', 3.2],
  ['s', 11.2],
  ['m', 25.9],
] as const)('the %s layout has the published count of weights', (size, millions) => {
  // Halves; the published count has biases and norms as well.
  expect(v8Layout(size).length / 2e6 / millions).toBeCloseTo(1, 1);
});
