import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { imagesPerSecond, type Stretch } from '../../bench/gpu/rig.js';
import type { CoreTask } from '../../src/native/core.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const TASK = { path: 'photo.jpg' } as CoreTask;

/** Each image is `latencyMs` on its way through stages that together give one every `gapMs`. */
function pipeline(latencyMs: number, gapMs: number) {
  let last = -Infinity;
  const core = {
    images: 0,
    run: () => {
      core.images += 1;
      last = Math.max(performance.now() + latencyMs, last + gapMs);
      const wait = last - performance.now();
      return new Promise<never>((resolve) => setTimeout(resolve as () => void, wait));
    },
  };
  return core;
}

async function rate(core: ReturnType<typeof pipeline>, stretch: Stretch): Promise<number> {
  const measured = imagesPerSecond(core, stretch, () => TASK);
  await vi.advanceTimersByTimeAsync(60_000);
  return measured;
}

describe('imagesPerSecond', () => {
  it('leaves out filling and emptying, which a service at work has not', async () => {
    const core = pipeline(40, 0.25);
    const found = await rate(core, { images: 2_000, leastMs: 0 });
    expect(core.images).toBe(2_000);
    // Over the whole run it would be 3700.
    expect(found).toBeGreaterThan(3_960);
    expect(found).toBeLessThan(4_040);
  });

  it('takes as long as it is told, whatever the speed', async () => {
    const core = pipeline(4, 0.05);
    expect(await rate(core, { images: 2_000, leastMs: 500 })).toBeGreaterThan(19_800);
    expect(core.images).toBeGreaterThan(9_800);
  });

  it('takes a run too short for that as a whole', async () => {
    const core = pipeline(100, 10);
    expect(await rate(core, { images: 4, leastMs: 0 })).toBeCloseTo(4_000 / 130, 0);
  });
});
