import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cameraPattern, cameraPatternFault } from '../../src/cameras/camera-pattern.js';

test.each([
  ['{camera}_*.jpg', 'gate_20251126_1400.jpg', 'gate'],
  ['{camera}_*.jpg', 'gate_.jpg', 'gate'],
  ['{camera}_*.jpg', '_20251126.jpg', null],
  ['{camera}_*.jpg', 'gate_20251126.JPG', null],
  ['{camera}_*.jpg', 'gate.jpg', null],
  ['IMG-*-{camera}.jpg', 'IMG-1-2-gate.jpg', '2-gate'],
  ['*-{camera}-*', 'a-b-c-d', 'b'],
  ['{camera}', 'gate.jpg', 'gate.jpg'],
  ['{camera}', '', null],
  ['**x{camera}y**', 'xxyy', 'x'],
  ['x{camera}', 'x', null],
  ['{camera}.jpg', '...jpg', '..'],
  ['a*a{camera}', 'ab', null],
  ['{{camera}}*', '{gate}.jpg', 'gate'],
  ['.*{camera}', '', undefined],
  ['{camera}*', '', undefined],
  ['{camera}_{camera}', '', undefined],
  ['*.jpg', '', undefined],
  ['', '', undefined],
  ['park/{camera}', '', undefined],
])('%s finds in %j: %j', (pattern, name, camera) => {
  expect(cameraPatternFault(pattern) === null).toBe(camera !== undefined);
  if (camera !== undefined) expect(cameraPattern(pattern)(name)).toBe(camera);
});

const text = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 4 });
const star = fc.tuple(text, fc.constant('*')).map((parts) => parts.join(''));
const side = fc.tuple(fc.array(star, { maxLength: 3 }), text).map((parts) => parts.flat().join(''));
const pattern = fc
  .tuple(side, side)
  .map((sides) => sides.join('{camera}'))
  .filter((made) => cameraPatternFault(made) === null);

/** The same by a regular expression, which tries every way. */
function byExpression(made: string, name: string): string | null {
  const expression = made
    .replaceAll('*', '[^]*?')
    .replaceAll('.', '\\.')
    .replace('{camera}', '(?<camera>[^]+?)');
  return new RegExp(`^${expression}$`).exec(name)?.groups?.camera ?? null;
}

test('it finds the part that a lazy regular expression finds', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 14 });
  fc.assert(
    fc.property(pattern, name, (made, given) => {
      expect(cameraPattern(made)(given)).toBe(byExpression(made, given));
    }),
    { numRuns: 2_000 },
  );
});

test('a name that is made of the pattern fits it', () => {
  fc.assert(
    fc.property(pattern, fc.stringMatching(/^[ab_]{1,5}$/), text, (made, camera, rest) => {
      const name = made.replace('{camera}', camera).replaceAll('*', rest);
      expect(cameraPattern(made)(name)).not.toBeNull();
    }),
  );
});

test('no character of a name is read again and again where no end fits', () => {
  // A regular expression would try some 10^40 ways.
  const made = `${'a*'.repeat(60)}{camera}b`.replace('*{camera}', '*c{camera}');
  expect(cameraPattern(made)('a'.repeat(100_000))).toBeNull();
});
