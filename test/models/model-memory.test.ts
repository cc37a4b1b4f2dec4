import { totalmem } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoadedModel } from '../../src/models/loaded-model.js';
import {
  lookAheadBytes,
  machineMemory,
  modelMemoryBudget,
  unloadedFor,
} from '../../src/models/model-memory.js';

const model = (memoryBytes: number, lastUse: number) =>
  ({ file: { name: `m${lastUse}.pt` }, native: { memoryBytes }, lastUse }) as LoadedModel;

const bytes = (models: LoadedModel[]) =>
  models.reduce((sum, { native }) => sum + native.memoryBytes, 0);

describe('memory of the loaded models', () => {
  it('is half of the machine at most, unless a setting says otherwise or GPUs keep their own', () => {
    expect(modelMemoryBudget(0, 'cpu')).toBeLessThanOrEqual(totalmem() / 2);
    expect(modelMemoryBudget(0, 'cpu')).toBeGreaterThan(0);
    expect(modelMemoryBudget(0, 'cuda')).toBe(Number.POSITIVE_INFINITY);
    expect(modelMemoryBudget(1500, 'cuda')).toBe(1.5e9);
  });

  it('is kept by unloading no more than needed, the longest unused first', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, fc.nat(100), fc.nat(400), fc.nat(12), (others, size, budget, at) => {
        const loaded = others.map((each, index) => model(each, index));
        const fresh = model(size, 99);
        const standard = loaded[at];
        const gone = unloadedFor(fresh, loaded, standard, budget);
        const kept = loaded.filter((each) => !gone.includes(each));
        expect(gone).not.toContain(standard);
        // Those that went were used before all that stay, the default one apart.
        const lastGone = Math.max(-1, ...gone.map((each) => each.lastUse));
        expect(kept.filter((each) => each !== standard && each.lastUse < lastGone)).toEqual([]);
        const oneLess = bytes([fresh, ...kept]);
        if (kept.some((each) => each !== standard)) expect(oneLess).toBeLessThanOrEqual(budget);
        const last = gone.at(-1);
        if (last !== undefined) expect(oneLess + last.native.memoryBytes).toBeGreaterThan(budget);
      }),
    );
  });
});

describe('memory of the machine', () => {
  it('is no more than there is, and a container says less', () => {
    expect(machineMemory()).toBeLessThanOrEqual(totalmem());
    expect(machineMemory()).toBeGreaterThan(0);
    const limit = process.constrainedMemory();
    if (limit > 0) expect(machineMemory()).toBeLessThanOrEqual(limit);
  });

  it('leaves an eighth to decoded pixels', () => {
    expect(Number.isInteger(lookAheadBytes())).toBe(true);
    expect(lookAheadBytes() / machineMemory()).toBeCloseTo(1 / 8, 6);
  });
});
