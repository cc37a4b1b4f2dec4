import { expect, it } from 'vitest';
import { BackOff } from '../../../src/base/back-off.js';
import { RestartPolicy } from '../../../src/clusters/processes/restart-policy.js';

/** Always the longest wait that is allowed. */
const policy = () =>
  new RestartPolicy(new BackOff(1_000, 30_000, () => 1), new BackOff(60_000, 600_000, () => 1));

it('restarts at once after a first end, then waits longer each time', () => {
  const one = policy();
  const waits = Array.from({ length: 8 }, () => one.afterEnd(20_000, true));
  expect(waits).toEqual([0, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('forgets earlier ends after 60 s of life', () => {
  const one = policy();
  for (let end = 0; end < 4; end += 1) one.afterEnd(1_000, true);
  expect(one.afterEnd(60_000, true)).toBe(0);
  expect(one.afterEnd(59_000, true)).toBe(2_000);
});

it.each([
  ['that are quick', 500, true],
  ['in which it never served, however long they were', 120_000, false],
])('starts seldom, but goes on, after five lives in a row %s', (_what, lifeMs, joined) => {
  const one = policy();
  for (let end = 0; end < 4; end += 1) one.afterEnd(lifeMs, joined);
  expect(one.isFailing).toBe(false);
  const waits = Array.from({ length: 5 }, () => one.afterEnd(lifeMs, joined));
  expect(waits).toEqual([120_000, 240_000, 480_000, 600_000, 600_000]);
  expect(one.isFailing).toBe(true);
  expect(one.afterEnd(60_000, true)).toBe(0);
  expect(one.isFailing).toBe(false);
});
