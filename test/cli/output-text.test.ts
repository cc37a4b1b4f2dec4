import { expect, test } from 'vitest';
import { failureLines, megabytes, printable, renderTable } from '../../src/cli/output-text.js';

test.each([
  [0, '0.0 MB'],
  [49_999, '0.0 MB'],
  [50_001, '0.1 MB'],
  [12_345_678, '12.3 MB'],
  [4_096_000_000, '4096.0 MB'],
])('%i bytes are %s', (bytes, shown) => {
  expect(megabytes(bytes)).toBe(shown);
});

test.each([
  ['a\u001b[2Jb', String.raw`a\u001b[2Jb`],
  ['one\ntwo\r\t', String.raw`one\ntwo\r\t`],
  ['gpj.\u202etxt', String.raw`gpj.\u202etxt`],
  ['\u009b\u2028\u2066\u061c', String.raw`\u009b\u2028\u2066\u061c`],
  ['Zürich 北 👩‍🚗.jpg', 'Zürich 北 👩‍🚗.jpg'],
])('%j is printed as %s', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('a row stays one line, its columns as wide as what is printed', () => {
  expect(
    renderTable([
      ['a\nb', 'x'],
      ['long name', 'y'],
    ]),
  ).toEqual([String.raw`a\nb       x`, 'long name  y']);
  const error = { code: 'image_not_found', detail: 'No \u001b[31m.' } as const;
  expect(failureLines([{ path: 'a\nb', error }])).toEqual([
    String.raw`  a\nb: No \u001b[31m. (image_not_found)`,
  ]);
});
