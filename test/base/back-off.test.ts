import { expect, test } from 'vitest';
import { BackOff } from '../../src/base/back-off.js';

test('waits lie between the least and twice as much per failure, up to the most', () => {
  const longest = new BackOff(100, 1_000, () => 1);
  expect([1, 2, 3, 4, 5].map(() => longest.next())).toEqual([200, 400, 800, 1_000, 1_000]);
  const shortest = new BackOff(100, 1_000, () => 0);
  expect([1, 2, 3].map(() => shortest.next())).toEqual([100, 100, 100]);
});

test('a success makes the next wait a short one again', () => {
  const backOff = new BackOff(100, 1_000, () => 1);
  for (let failure = 0; failure < 5; failure += 1) backOff.next();
  backOff.reset();
  expect(backOff.next()).toBe(200);
});

test('no wait overflows', () => {
  const backOff = new BackOff(100, 1_000, () => 1);
  for (let failure = 0; failure < 2_000; failure += 1) backOff.next();
  expect(backOff.next()).toBe(1_000);
});
