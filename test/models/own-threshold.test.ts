import { expect, test } from 'vitest';
import { THRESHOLD_KEY, thresholdOf } from '../../src/models/own-threshold.js';

test.each([
  ['0.35', 0.35],
  [' 1 ', 1],
  ['0', 0],
  ['', 0.5],
  ['1.01', 0.5],
  ['-0.1', 0.5],
  ['35 %', 0.5],
  ['NaN', 0.5],
])('the metadata %j give %f', (text, threshold) => {
  expect(thresholdOf({ [THRESHOLD_KEY]: text })).toBe(threshold);
});

test('a model without the key has the threshold of the interface', () => {
  expect(thresholdOf({ license: 'MIT' })).toBe(0.5);
});
