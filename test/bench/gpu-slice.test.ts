import { describe, expect, it } from 'vitest';
import type { NativeModel } from '../../src/native/contract.js';
import type { Plan } from '../../bench/gpu/plan.js';
import { bestReplay, replayRate, timeSlices, type SliceCore } from '../../bench/gpu/slice.js';

/** A core whose GPU has these batch sizes; a network takes 1 ms and 0.1 ms an image. */
function gpuCore(buckets: number[]): SliceCore {
  return {
    run: () => Promise.reject(new Error('A GPU times its slices itself.')),
    stats: () => {
      throw new Error('The slots of a GPU say nothing about its speed.');
    },
    sliceTimes(_, asked) {
      const batch = buckets.find((bucket) => bucket >= asked) ?? buckets.at(-1)!;
      const networkMs = 1 + batch / 10;
      const stages = { copyMs: 0.1, letterboxMs: 0.1, boxesMs: 0.1, launchMs: 0.01, emptyMs: 0.01 };
      return Promise.resolve({ batch, networkMs, sliceMs: networkMs + 0.3, ...stages });
    },
  };
}

const model = { modelId: 1 } as NativeModel;
const plan = { device: 'cuda', devices: 2 } as Plan;

describe('slices of a GPU', () => {
  it('are timed once for each batch size that the engine has', async () => {
    const batches = async (buckets: number[]) =>
      (await timeSlices(gpuCore(buckets), model, 3)).map(({ batch }) => batch);
    expect(await batches([1, 2, 4, 8, 16, 32])).toEqual([1, 2, 4, 8, 16, 32]);
    expect(await batches([1, 8])).toEqual([1, 8]);
    expect(await batches([4])).toEqual([4]);
  });

  it('give a replay rate over all GPUs, the best of all batch sizes', async () => {
    const core = gpuCore([1, 2, 4, 8, 16, 32]);
    const slices = await timeSlices(core, model, 3);
    expect(replayRate(plan, core, slices[0]!)).toBeCloseTo(2_000 / 1.1, 6);
    expect(bestReplay(plan, core, slices)).toBeCloseTo((2 * 32 * 1_000) / 4.2, 6);
  });
});
