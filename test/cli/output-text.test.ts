import { expect, test } from 'vitest';
import { megabytes } from '../../src/cli/output-text.js';

test.each([
  [0, '0.0 MB'],
  [49_999, '0.0 MB'],
  [50_001, '0.1 MB'],
  [12_345_678, '12.3 MB'],
  [4_096_000_000, '4096.0 MB'],
])('%i bytes are %s', (bytes, shown) => {
  expect(megabytes(bytes)).toBe(shown);
});
