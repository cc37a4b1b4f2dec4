import { expect, test } from 'vitest';
import { Releases } from '../src/shutdown.js';

const quiet = { debug: () => undefined, error: () => undefined };

test('parts are released last in, first out, and one that fails keeps none of the others', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases({ ...quiet, error: (fields) => void errors.push(fields) });
  releases.add('first', () => void order.push('first'));
  releases.add('second', async () => {
    await Promise.resolve();
    order.push('second');
    throw new Error('second is stuck');
  });
  releases.add('third', () => void order.push('third'));
  await releases.releaseAll();
  expect(order).toEqual(['third', 'second', 'first']);
  expect(errors).toEqual([{ part: 'second', error: 'Error: second is stuck' }]);
});

test('releasing twice releases each part once', async () => {
  let times = 0;
  const releases = new Releases(quiet);
  releases.add('part', () => void (times += 1));
  await releases.releaseAll();
  await releases.releaseAll();
  expect(times).toBe(1);
});
