import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Semaphore } from '../../src/base/semaphore.js';

test('so much at a time, in order, whether the work succeeds or fails', async () => {
  const semaphore = new Semaphore(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const run = (id: number) =>
    semaphore.run(() => {
      begun.push(id);
      return new Promise<number>((resolve, reject) => {
        ends.push(() => {
          if (id === 1) reject(new Error('failed'));
          else resolve(id);
        });
      });
    });
  const all = [1, 2, 3, 4].map((id) => run(id).catch((error: unknown) => error));
  expect(begun).toEqual([1, 2]);
  expect(semaphore.waiting).toBe(2);
  ends[0]!();
  await nextTurn();
  expect(begun).toEqual([1, 2, 3]);
  for (let next = 1; next < 4; next += 1) {
    ends[next]!();
    await nextTurn();
  }
  expect((await Promise.all(all)).slice(1, 4)).toEqual([2, 3, 4]);
  const again = run(5);
  await nextTurn();
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  ends[4]!();
  expect(await again).toBe(5);
});

test('one at a time gives each caller its own turn of the event loop, in order', async () => {
  const semaphore = new Semaphore(1);
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const seen: { caller: number; at: number }[] = [];
  await Promise.all(
    Array.from({ length: 20 }, async (_, caller) => {
      await semaphore.run(() => nextTurn());
      seen.push({ caller, at: turns });
    }),
  );
  counting = false;
  expect(seen.map(({ caller }) => caller)).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect(new Set(seen.map(({ at }) => at)).size).toBe(20);
});
