import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { against, judged, type Goal } from '../../bench/gpu/answer.js';
import { findModels } from '../../bench/gpu/plan.js';
import { standIn } from '../../bench/gpu/run-record.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-goals-'));
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const positive = fc.double({ min: 0.001, max: 1e6, noNaN: true });
const figure = (value: number, baseline: number, goal: Goal) =>
  against({ what: 'x', value, unit: 'ms' }, { what: 'y', value: baseline }, goal);

describe('goals', () => {
  it('are met by the ratio, on a GPU only', () => {
    fc.assert(
      fc.property(positive, positive, positive, (value, baseline, bound) => {
        const ratio = value / baseline;
        const least = figure(value, baseline, { atLeast: bound });
        const most = figure(value, baseline, { atMost: bound });
        expect(judged(least, true).met).toBe(ratio >= bound);
        expect(judged(most, true).met).toBe(ratio <= bound);
        expect(judged(least, false).met).toBeNull();
      }),
    );
  });

  it('are shown in words', () => {
    expect(judged(figure(1, 1, { atLeast: 0.9 }), false).goal).toBe('>= 0.90');
    expect(judged(figure(1, 1, { atLeast: 0.995 }), false).goal).toBe('>= 0.995');
    expect(judged(figure(1, 1, { atMost: 1.3 }), true)).toMatchObject({
      goal: '<= 1.30',
      met: true,
    });
  });
});

describe('models to measure', () => {
  it('are those whose names end in a size, smallest first', () => {
    const names = [
      'yolov8x.onnx',
      'yolov8n.onnx',
      'vehicles-v8m.onnx',
      'yolov8n-uint8.onnx',
      'n.txt',
    ];
    const models = mkdtempSync(join(folder, '..', 'lattice-models-'));
    for (const name of names) writeFileSync(join(models, name), '');
    const found = findModels([models, join(models, 'absent')]);
    rmSync(models, { recursive: true });
    expect(found.models.map(({ name, size }) => `${name} ${size}`)).toEqual([
      'yolov8n n',
      'vehicles-v8m m',
      'yolov8x x',
    ]);
    expect(found.notes.join()).toContain('yolov8n-uint8.onnx');
  });
});

describe('figures of no GPU', () => {
  it('say so', () => {
    expect(standIn({ simulated: false }, false)).toBeNull();
    for (const [simulated, dry] of [
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      expect(standIn({ simulated }, dry)).toContain('nothing here is a GPU figure');
    }
  });
});
