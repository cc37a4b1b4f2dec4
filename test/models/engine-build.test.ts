/**
 * The answers to callers, the readiness and the log during an engine's build, with the build's progress set by hand.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { EngineBuild, retryAfter } from '../../src/models/engine-build.js';
import { silent } from '../support/silent-logger.js';

let share = -1;
const info = vi.fn();
const build = new EngineBuild({
  share: () => share,
  logger: { ...silent, info },
});
afterEach(() => {
  share = -1;
  build.notReady();
  build.stop();
  info.mockClear();
});

it('says how far it is and when to ask again, and nothing once it is over', () => {
  expect(build.notReady()).toBeNull();
  share = 0.375;
  expect(build.notReady()).toMatchObject({
    code: 'model_not_ready',
    message: expect.stringContaining('37 %'),
    retryAfterS: expect.any(Number),
  });
  share = -1;
  expect(build.notReady()).toBeNull();
});

it('refuses what waits for it and lets other work through', async () => {
  build.start();
  expect(await build.orNotReady(sleep(20, 'loaded'))).toBe('loaded');
  const waiting = build.orNotReady(new Promise<never>(() => undefined));
  share = 0;
  await expect(waiting).rejects.toMatchObject({ code: 'model_not_ready', retryAfterS: 60 });
  await expect(build.orNotReady(new Promise<never>(() => undefined))).rejects.toMatchObject({
    code: 'model_not_ready',
  });
  await expect(build.orNotReady(Promise.reject(new Error('damaged')))).rejects.toThrow();
});

it('logs each tenth once', () => {
  for (share = 0; share < 1; share += 0.01) build.notReady();
  const percents = info.mock.calls.flatMap(([fields]) => (fields as { percent?: number }).percent);
  expect(percents.filter((percent) => percent !== undefined).length).toBeGreaterThanOrEqual(8);
  expect(percents.filter((percent) => percent !== undefined).length).toBeLessThanOrEqual(10);
});

it.each([
  [0, 5_000, 60],
  [0.05, 100_000, 60],
  [0.5, 30_000, 30],
  [0.9, 9_000, 1],
  [0.999, 1_000, 1],
  [0.1, 3_600_000, 600],
])('at %f after %i ms the caller comes back in %i s', (done, elapsedMs, seconds) => {
  expect(retryAfter(done, elapsedMs)).toBe(seconds);
});
