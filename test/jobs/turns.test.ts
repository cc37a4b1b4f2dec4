import { expect, test } from 'vitest';
import { createTurns } from '../../src/jobs/turns.js';

test('each caller gets a turn of its own, in order of calling', async () => {
  const turn = createTurns();
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
      await turn();
      seen.push({ caller, at: turns });
    }),
  );
  counting = false;
  expect(seen.map(({ caller }) => caller)).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect(new Set(seen.map(({ at }) => at)).size).toBe(20);
});
