/** Files come into a watched folder of a service that is killed; and the checker of it sees what it looks for. */
import { expect, test } from 'vitest';
import { violationsOf, type Version } from '../../bench/watches/dropping.js';
import { numberOf, MOST_PICTURES, sizeOf } from '../../bench/watches/pictures.js';
import { runWatch } from '../../bench/watches/run-watch.js';

test.each([true, false])('each version at rest has one result; notices: %s', async (notices) => {
  const run = { files: 120, seconds: 15, kills: 3, notices, seed: 3, root: null, through: null };
  const { violations, results } = await runWatch(run);
  expect(violations).toEqual([]);
  expect(results).toBeGreaterThan(30);
});

test('every picture has a size of its own', () => {
  const numbers = Array.from({ length: MOST_PICTURES }, (_, number) => numberOf(sizeOf(number)));
  expect(numbers).toEqual([...numbers.keys()]);
});

const version = (changes: Partial<Version> = {}): Version => ({
  ...{ number: 0, path: 'a.png', names: 1, wholeAt: 1_000, endedAt: null },
  ...changes,
});

test.each<[string, Version, number[], number[], string | null, keepsInodes?: boolean]>([
  ['nothing', version(), [0], [], null],
  ['a lost version', version(), [], [], 'has no result'],
  ['two results', version(), [0, 0], [], 'has 2 results'],
  ['two results of a renamed one', version({ names: 2 }), [0, 0], [], 'has 2 results'],
  ['nothing where its volume keeps no inodes', version({ names: 2 }), [0, 0], [], null, false],
  ['a result of half a file', version({ wholeAt: null }), [0], [], 'was never whole'],
  ['a picture that was not written', version(), [0, 1], [], 'which was not written'],
  ['nothing where a version went before its turn', version({ endedAt: 9_000 }), [], [1_500], null],
  ['a version that rested', version({ endedAt: 9_000 }), [], [5_000], 'has no result'],
])('the checker finds %s', (_what, written, results, idle, violation, keepsInodes = true) => {
  const found = violationsOf([written], results, idle, 1_000, keepsInodes).join('\n');
  if (violation === null) expect(found).toBe('');
  else expect(found).toContain(violation);
});
