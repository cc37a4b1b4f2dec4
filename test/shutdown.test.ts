import { expect, test } from 'vitest';
import { Releases } from '../src/shutdown.js';

const MOST_MS = 60_000;
const quiet = { debug: () => undefined, error: () => undefined };

test('parts are released last in, first out, and one that fails keeps none of the others', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases({ ...quiet, error: (fields) => void errors.push(fields) }, MOST_MS);
  releases.add('first', () => void order.push('first'));
  releases.add('second', async () => {
    await Promise.resolve();
    order.push('second');
    throw new Error('second is stuck');
  });
  releases.add('third', () => void order.push('third'));
  expect(await releases.releaseAll()).toBe(true);
  expect(order).toEqual(['third', 'second', 'first']);
  expect(errors).toEqual([{ part: 'second', error: 'Error: second is stuck' }]);
});

test('releasing twice releases each part once', async () => {
  let times = 0;
  const releases = new Releases(quiet, MOST_MS);
  releases.add('part', () => void (times += 1));
  await releases.releaseAll();
  await releases.releaseAll();
  expect(times).toBe(1);
});

test('a part that hangs is left, and the others are released all the same', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases({ ...quiet, error: (fields) => void errors.push(fields) }, 50);
  releases.add('first', () => void order.push('first'));
  releases.add('second', () => new Promise<never>(() => undefined));
  releases.add('third', () => void order.push('third'));
  const began = performance.now();
  expect(await releases.releaseAll()).toBe(false);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(order).toEqual(['third', 'first']);
  expect(errors).toEqual([{ part: 'second', mostMs: 50 }]);
});
