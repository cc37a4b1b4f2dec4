import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pathPattern } from '../../src/base/path-pattern.js';

it.each([
  ['cameras/north/**', 'cameras/north/1.jpg', true],
  ['cameras/north/**', 'cameras/north/2026/11/1.jpg', true],
  ['cameras/north/**', 'cameras/northern/1.jpg', false],
  ['cameras/north/**', 'cameras/south/1.jpg', false],
  ['cameras/*/1.jpg', 'cameras/north/1.jpg', true],
  ['cameras/*/1.jpg', 'cameras/north/2026/1.jpg', false],
  ['**/north-?.jpg', 'north-1.jpg', true],
  ['**/north-?.jpg', 'a/b/north-1.jpg', true],
  ['**/north-?.jpg', 'a/b/north-12.jpg', false],
  ['a/**/b/**/c', 'a/b/x/b/y/c', true],
  ['a/**/b/**/c', 'a/x/c', false],
  ['*-day-*.jpg', 'north-day-day-1.jpg', true],
  ['[a]{b}.jpg', '[a]{b}.jpg', true],
  ['[a].jpg', 'a.jpg', false],
  ['straße/*', 'straße/é.jpg', true],
  ['', '', true],
  ['*', '', true],
  ['**', 'a/b', true],
])('%s and %s: %s', (pattern, path, matches) => {
  expect(pathPattern(pattern)(path)).toBe(matches);
});

it('says what a regular expression of the same meaning says', () => {
  const part = fc.array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 5 });
  const pattern = fc.array(
    fc.oneof(
      fc.constant('**'),
      part.map((letters) => letters.join('').replace(/\*{2,}/g, '*')),
    ),
    { minLength: 1, maxLength: 5 },
  );
  const path = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(pattern, path, (components, names) => {
      const source = components
        .map((each) =>
          each === '**'
            ? '(?:[^/]+/)*'
            : `${each.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`,
        )
        .join('');
      const text = components.join('/');
      const beginning = text.slice(0, text.search(/[*?]|$/));
      // `a/**` is for what lies in the folder, not for a file of its name.
      const expected =
        new RegExp(`^${source}$`).test(`${names.join('/')}/`) &&
        names.join('/').startsWith(beginning);
      expect(pathPattern(text)(names.join('/'))).toBe(expected);
    }),
    { numRuns: 5_000 },
  );
});

it('is done soon with a pattern and a path that fit in many ways', () => {
  const matches = pathPattern(`${'*a'.repeat(500)}b/${'**/a/'.repeat(200)}b`);
  const before = process.cpuUsage();
  expect(matches(`${'a'.repeat(4_000)}/${'a/'.repeat(2_000)}`)).toBe(false);
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
