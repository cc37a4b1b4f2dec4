import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { agreementOf, shareOrNull } from '../../src/boxes/agreement.js';
import { pairBoxes } from '../../src/boxes/pairing.js';

const box = (name: string, confidence: number, left: number, side = 50): Detection => ({
  class: name,
  confidence,
  box: [left, 10, left + side, 10 + side],
});

const FLOOR = 0.3;

interface Sides {
  picture: string;
  first: Detection[];
  second: Detection[];
}

const reportOf = (pictures: readonly Sides[], partnersCount = true) =>
  agreementOf(
    pictures.map(({ picture, first, second }) => ({ picture, boxes: pairBoxes(first, second) })),
    FLOOR,
    partnersCount,
  );

test('boxes in both, of another class, lost and gained are counted by class and size', () => {
  const first = [
    box('car', 0.9, 0),
    box('car', 0.8, 100),
    box('truck', 0.7, 200),
    box('car', 0.6, 300, 20),
  ];
  const second = [box('car', 0.7, 0), box('truck', 0.8, 100), box('bus', 0.9, 400, 200)];
  const found = reportOf([{ picture: 'a.jpg', first, second }]);
  expect(found).toMatchObject({
    pictures: 1,
    share: 0.285714,
    all: { of: null, first: 4, second: 3, matched: 2, flipped: 1, lost: 2, gained: 1 },
    byClass: [
      // The second model calls one of them a truck.
      { of: 'car', first: 3, second: 1, matched: 2, flipped: 1, lost: 1, gained: 0 },
      { of: 'truck', first: 1, second: 1, matched: 0, lost: 1, gained: 0 },
      { of: 'bus', first: 0, second: 1, gained: 1, scoreShift: null },
    ],
    bySize: [
      { of: 'below 32 px', first: 1, lost: 1 },
      { of: '32 to 96 px', first: 3, matched: 2 },
      { of: 'from 96 px', gained: 1 },
    ],
    least: [{ picture: 'a.jpg', lost: 2, gained: 1, flipped: 1 }],
  });
  expect(found.all.scoreShift).toBeCloseTo(-0.1);
});

test('a class in two spellings has one row', () => {
  const first = [box('car', 0.9, 0), box('car', 0.8, 100)];
  const second = [box('Car', 0.9, 0), box('Car', 0.8, 200)];
  expect(reportOf([{ picture: 'a.jpg', first, second }])).toMatchObject({
    all: { matched: 1, flipped: 0 },
    byClass: [{ of: 'car', first: 2, second: 2, lost: 1, gained: 1 }],
  });
});

test('a partner may be weaker than the boxes that count', () => {
  const pictures = [
    { picture: 'a.jpg', first: [box('car', 0.31, 0)], second: [box('car', 0.25, 0)] },
    { picture: 'b.jpg', first: [box('car', 0.29, 0)], second: [] },
  ];
  expect(reportOf(pictures)).toMatchObject({
    share: 1,
    least: [],
    all: { first: 1, second: 1, lost: 0 },
  });
  // Where partners do not count themselves.
  expect(reportOf(pictures, false)).toMatchObject({
    share: 1,
    all: { first: 1, second: 0, lost: 0, gained: 0 },
  });
});

test('pictures without a box that counts have no share', () => {
  const none = reportOf([{ picture: 'a.jpg', first: [box('car', 0.2, 0)], second: [] }]);
  expect([none.share, shareOrNull(none)]).toEqual([1, null]);
  const missed = reportOf([{ picture: 'a.jpg', first: [box('car', 0.9, 0)], second: [] }]);
  expect(shareOrNull(missed)).toBe(0);
});

const boxes = fc
  .array(
    fc.tuple(
      fc.constantFrom('car', 'bus'),
      fc.integer({ min: 31, max: 99 }),
      fc.integer({ min: 0, max: 900 }),
    ),
    { maxLength: 8 },
  )
  .map((list) => list.map(([name, score, left]) => box(name, score / 100, left)));

test('a model agrees with itself in full, and swapped models lose what they gained', () => {
  fc.assert(
    fc.property(boxes, boxes, (first, second) => {
      expect(reportOf([{ picture: 'a', first, second: first }])).toMatchObject({
        share: 1,
        least: [],
      });
      const there = reportOf([{ picture: 'a', first, second }]);
      const back = reportOf([{ picture: 'a', first: second, second: first }]);
      expect([back.share, back.all.lost, back.all.gained, back.all.flipped]).toEqual([
        there.share,
        there.all.gained,
        there.all.lost,
        there.all.flipped,
      ]);
    }),
  );
});

test('of many pictures ten are kept, those that agree least first; equal ones in their order', () => {
  const pictures = Array.from({ length: 30 }, (_, at) => {
    const first = Array.from({ length: 10 }, (_, place) => box('car', 0.9, 100 * place));
    return { picture: `${at}`, first, second: first.slice(at % 5) };
  });
  const { least, share } = reportOf(pictures);
  expect(least.map(({ picture }) => picture)).toEqual([
    '4',
    '9',
    '14',
    '19',
    '24',
    '29',
    '3',
    '8',
    '13',
    '18',
  ]);
  // Six times 10 boxes against 10, 9, 8, 7 and 6.
  expect(share).toBeCloseTo((2 * 40) / 90);
});
