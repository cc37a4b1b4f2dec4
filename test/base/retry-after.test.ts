import { expect, test } from 'vitest';
import { MAX_RETRY_AFTER_S, parseRetryAfter } from '../../src/base/retry-after.js';

const NOW = 1_700_000_000;

test.each([
  ['120', 120],
  [' 7 ', 7],
  ['0', 0],
  ['99999999', MAX_RETRY_AFTER_S],
  [new Date((NOW + 60) * 1000).toUTCString(), 60],
  [new Date((NOW - 60) * 1000).toUTCString(), 0],
  ['soon', 0],
  ['', 0],
  [null, 0],
])('Retry-After %j means %d s', (header, seconds) => {
  expect(parseRetryAfter(header, NOW)).toBeCloseTo(seconds, 5);
});
