import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LatticeError } from '../../../src/errors.js';
import { lookAtPicture } from '../../../src/models/self-check/picture-look.js';
import type { Core, CoreTask, RawResult } from '../../../src/native/core.js';
import { devicesOf, loadedModel, watchModel } from '../../support/watched-model.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a device that hangs is found although its task has a deadline', async () => {
  let hangs = false;
  let freed = false;
  // As the native core: a task past its deadline is answered, also one that a device has in hand.
  const run = ({ deadlineMs }: CoreTask): Promise<Pick<RawResult, 'boxes'>> =>
    hangs
      ? new Promise((_resolve, reject) => {
          setTimeout(() => {
            freed = true;
            reject(new LatticeError('deadline_exceeded', 'too late'));
          }, deadlineMs);
        })
      : Promise.resolve({ boxes: Float32Array.of(0, 0, 10, 10, 0.5, 0) });
  const core = { run } as unknown as Core;
  const model = loadedModel();
  const canary = watchModel({
    look: (looked, picture) => lookAtPicture(core, 1, looked, picture),
    devices: () => devicesOf(1),
    judge: () => undefined,
    loaded: () => [model],
    log: () => undefined,
  });
  await canary.admit(model);
  hangs = true;
  const round = canary.checkAll();
  await vi.advanceTimersByTimeAsync(60_000);
  await round;
  expect(model.distrust?.message).toContain('no answer within 60 s');
  expect(freed).toBe(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(freed).toBe(true);
});
