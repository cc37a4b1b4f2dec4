import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareBoxes, countChanges, type Change } from '../../src/boxes/changes.js';
import type { Detection } from '../../src/api/schemas/image.js';

/** 100 pixels wide and high: shifted by d it overlaps itself by (100 - d) / (100 + d). */
const box = (name: string, x: number, confidence = 0.8): Detection => ({
  class: name,
  confidence,
  box: [x, 0, x + 100, 100],
});
const changesOf = (first: Detection[], second: Detection[], confidenceChange?: number) =>
  compareBoxes(first, second, confidenceChange).map(
    ({ change, before, after }): [Change, string, string] => [
      change,
      before === null ? '-' : `${before.class}@${before.box[0]}`,
      after === null ? '-' : `${after.class}@${after.box[0]}`,
    ],
  );

test('boxes at the same place are one; they have changed with class, confidence or place', () => {
  const before = [
    box('car', 0),
    box('car', 300),
    box('bus', 600),
    box('car', 900),
    box('car', 1_200),
    box('car', 1_500),
  ];
  const after = [
    box('car', 11), // 89 / 111 = 0.802
    box('truck', 300),
    box('bus', 600, 0.74),
    box('car', 912), // 88 / 112 = 0.786
    box('car', 1_233), // 67 / 133 = 0.504
    box('car', 1_534), // 66 / 134 = 0.493
  ];
  const compared = changesOf(before, after);
  expect(compared).toEqual([
    ['same', 'car@0', 'car@11'],
    ['changed', 'car@300', 'truck@300'],
    ['changed', 'bus@600', 'bus@600'],
    ['changed', 'car@900', 'car@912'],
    ['changed', 'car@1200', 'car@1233'],
    ['lost', 'car@1500', '-'],
    ['gained', '-', 'car@1534'],
  ]);
  expect(countChanges(compareBoxes(before, after))).toEqual({
    ...{ gained: 1, lost: 1, changed: 4, same: 1 },
  });
});

test('a confidence has changed where it differs by more than the threshold', () => {
  const change = (confidence: number, threshold?: number) =>
    changesOf([box('car', 0, 0.9)], [box('car', 0, confidence)], threshold)[0]?.[0];
  expect(change(0.85)).toBe('same');
  expect(change(0.849)).toBe('changed');
  expect(change(0.5, 0.4)).toBe('same');
  expect(change(0.899, 0)).toBe('changed');
  expect(change(0, 1)).toBe('same');
});

test('each box has one partner, the one that it overlaps most', () => {
  expect(changesOf([box('car', 0), box('car', 20)], [box('car', 20)])).toEqual([
    ['lost', 'car@0', '-'],
    ['same', 'car@20', 'car@20'],
  ]);
});

test('a partner of the same class comes before one of another that overlaps more', () => {
  expect(changesOf([box('car', 0)], [box('truck', 0), box('car', 10)])).toEqual([
    ['same', 'car@0', 'car@10'],
    ['gained', '-', 'truck@0'],
  ]);
});

test('of equal overlaps the more confident boxes are partners', () => {
  // 20 to the left and 20 to the right.
  expect(changesOf([box('car', 20)], [box('car', 40, 0.9), box('car', 0, 0.8)])).toEqual([
    ['changed', 'car@20', 'car@40'],
    ['gained', '-', 'car@0'],
  ]);
});

/** Few places and confidences, so that boxes often tie. */
const some = fc
  .array(
    fc.tuple(
      fc.constantFrom('car', 'bus'),
      fc.integer({ min: 0, max: 12 }),
      fc.constantFrom(0.5, 0.6, 0.9),
    ),
    { maxLength: 12 },
  )
  .map((boxes) => boxes.map(([name, x, confidence]) => box(name, 20 * x, confidence)));

test('what the second has gained against the first, the first has lost against the second', () => {
  const swapped = { gained: 'lost', lost: 'gained', changed: 'changed', same: 'same' } as const;
  const key = (change: Change, before: Detection | null, after: Detection | null) =>
    JSON.stringify([change, before, after]);
  fc.assert(
    fc.property(some, some, (first, second) => {
      const there = compareBoxes(first, second).map((each) =>
        key(each.change, each.before, each.after),
      );
      const back = compareBoxes(second, first).map(({ change, before, after }) =>
        key(swapped[change], after, before),
      );
      expect(back.sort()).toEqual(there.sort());
      expect(countChanges(compareBoxes(first, first))).toEqual({
        ...{ gained: 0, lost: 0, changed: 0, same: first.length },
      });
    }),
    { numRuns: 1_000 },
  );
});

test('letter case makes no other class', () => {
  expect(changesOf([box('car', 0), box('bus', 300)], [box('Car', 0), box('Truck', 300)])).toEqual([
    ['same', 'car@0', 'Car@0'],
    ['changed', 'bus@300', 'Truck@300'],
  ]);
  // If two boxes are in one place, the partner is the one of the same class.
  expect(changesOf([box('car', 0)], [box('Bus', 0), box('Car', 8)])[0]).toEqual([
    ...['same', 'car@0', 'Car@8'],
  ]);
});
