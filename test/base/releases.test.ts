import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Releases } from '../../src/base/releases.js';
import { silent } from '../support/silent-logger.js';

const DRAIN_MS = 60_000;

test('parts are released last in, first out, and one that fails keeps none of the others', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases(
    { ...silent, error: (fields) => void errors.push(fields) },
    DRAIN_MS,
  );
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
  const releases = new Releases(silent, DRAIN_MS);
  releases.add('part', () => void (times += 1));
  await releases.releaseAll();
  await releases.releaseAll();
  expect(times).toBe(1);
});

test('a part that hangs is left, and the others are released all the same', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases({ ...silent, error: (fields) => void errors.push(fields) }, 30, 20);
  releases.add('first', () => void order.push('first'));
  releases.add('second', () => new Promise<never>(() => undefined));
  releases.add('third', () => void order.push('third'));
  expect(await releases.releaseAll()).toBe(false);
  expect(order).toEqual(['third', 'first']);
  expect(errors).toEqual([{ part: 'second', limitMs: 50 }]);
});

test('drains run at the same time, each with the whole allowance, and before any release', async () => {
  const order: string[] = [];
  const releases = new Releases(silent, 300);
  for (const name of ['jobs', 'server']) {
    releases.add(name, () => void order.push(`${name} released`));
    releases.addDrain(name, async (drainMs) => {
      order.push(`${name} begun`);
      await sleep(drainMs);
      order.push(`${name} drained after ${drainMs}`);
    });
  }
  expect(await releases.releaseAll()).toBe(true);
  expect(order).toEqual([
    'jobs begun',
    'server begun',
    'jobs drained after 300',
    'server drained after 300',
    'server released',
    'jobs released',
  ]);
});
