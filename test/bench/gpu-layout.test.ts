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
