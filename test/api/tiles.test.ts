import fc from 'fast-check';
import { expect, it } from 'vitest';
import { imagesOf, imagesOfGrid, tilesOf, tilesText, type Tiles } from '../../src/api/tiles.js';

const overlap = fc.integer({ min: 0, max: 50 }).map((percent) => percent / 100);
const side = fc.integer({ min: 1, max: 8 });
const tiles: fc.Arbitrary<Tiles> = fc.oneof(
  fc.constantFrom('off' as const, 'auto' as const),
  fc.record({ columns: side, rows: side, overlap }),
  fc.record({ size: fc.integer({ min: 32, max: 10_000 }), overlap }),
);

it('reads what it writes', () => {
  fc.assert(
    fc.property(tiles, (each) => {
      expect(tilesOf(tilesText(each))).toEqual(each);
    }),
  );
});

it.each([
  ['AUTO', 'auto'],
  [' off ', 'off'],
  ['3x2', { columns: 3, rows: 2, overlap: 0.2 }],
  ['640:.3', { size: 640, overlap: 0.3 }],
])('reads %j', (text, expected) => {
  expect(tilesOf(text)).toEqual(expected);
});

it.each(['', 'many', '3x', 'x3', '-3x2', '3x2x1', '3x2:', '3.5x2', '1e9x'])(
  'no tiles: %j',
  (text) => {
    expect(tilesOf(text)).toBeNull();
  },
);

it('counts the picture beside its tiles, and a picture in one tile once', () => {
  expect(imagesOf('off')).toBe(1);
  expect(imagesOf({ columns: 3, rows: 2, overlap: 0.2 })).toBe(7);
  expect(imagesOf({ columns: 1, rows: 1, overlap: 0.2 })).toBe(1);
  expect(imagesOf('auto')).toBeNull();
  expect(imagesOfGrid(undefined)).toBe(1);
  expect(imagesOfGrid({ columns: 4, rows: 4 })).toBe(17);
});
