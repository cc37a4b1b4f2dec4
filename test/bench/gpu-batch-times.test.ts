import { describe, expect, it } from 'vitest';
import {
  bestNetworkRate,
  networkRate,
  timeBatches,
  type TimeBatch,
} from '../../bench/gpu/batch-times.js';

/** An engine with these batch sizes; a network takes 1 ms and 0.1 ms per image. */
function timer(buckets: number[]): TimeBatch {
  return (asked) => {
    const batch = buckets.find((bucket) => bucket >= asked) ?? buckets.at(-1)!;
    const networkMs = 1 + batch / 10;
    const stages = { copyMs: 0.1, letterboxMs: 0.1, boxesMs: 0.1, launchMs: 0.01, emptyMs: 0.01 };
    return Promise.resolve({ batch, networkMs, wholeMs: networkMs + 0.3, ...stages });
  };
}

const core = {
  stats: () => {
    throw new Error('The slots of a GPU say nothing about its speed.');
  },
};

describe('batches', () => {
  it('are timed once for each size that the engine has', async () => {
    const batches = async (buckets: number[]) =>
      (await timeBatches(timer(buckets), 3)).map(({ batch }) => batch);
    expect(await batches([1, 2, 4, 8, 16, 32])).toEqual([1, 2, 4, 8, 16, 32]);
    expect(await batches([1, 8])).toEqual([1, 8]);
    expect(await batches([4])).toEqual([4]);
    expect(await batches([1])).toEqual([1]);
  });

  it("give the bare network's rate, the best of all sizes", async () => {
    const all = await timeBatches(timer([1, 2, 4, 8, 16, 32]), 3);
    expect(networkRate({ device: 'cuda' }, core, all[0]!)).toBeCloseTo(1_000 / 1.1, 6);
    expect(bestNetworkRate({ device: 'cuda' }, core, all)).toBeCloseTo((32 * 1_000) / 4.2, 6);
  });
});
