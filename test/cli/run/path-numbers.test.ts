import { expect, test } from 'vitest';
import { PathNumbers } from '../../../src/cli/run/path-numbers.js';

const COUNT = 20_000;
const pathOf = (at: number) => `/photos/${at % 7}/${at}.jpg`;

test('each of many paths keeps its last number, and others have none', () => {
  const numbers = new PathNumbers();
  for (let at = 0; at < COUNT; at += 1) numbers.set(pathOf(at), 1);
  for (let at = 0; at < COUNT; at += 1) numbers.set(pathOf(at), at + 1);
  expect(numbers.size).toBe(COUNT);
  const wrong = Array.from({ length: 2 * COUNT }, (_, at) => at).filter(
    (at) => numbers.of(pathOf(at)) !== (at < COUNT ? at + 1 : 0),
  );
  expect(wrong).toEqual([]);
});
