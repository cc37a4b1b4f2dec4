import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ShownBox } from '../../../src/ui/picture/shown-boxes.js';
import { compareBoxes, countChanges } from '../../../src/ui/detect/box-changes.js';

const box = (id: number, name: string, x: number, confidence = 0.8): ShownBox => ({
  id,
  class: name,
  confidence,
  box: [x, 0, x + 100, 100],
});

test('boxes are one where class and place are the same; the others came or went', () => {
  const before = [box(0, 'car', 0), box(1, 'car', 300), box(2, 'bus', 600), box(3, 'car', 900)];
  const after = [
    box(0, 'car', 5),
    box(1, 'truck', 300),
    box(2, 'bus', 600, 0.6),
    box(3, 'car', 925),
  ];
  const compared = compareBoxes(before, after);
  expect(compared.map(({ change, class: name }) => [change, name])).toEqual([
    ['same', 'car'],
    ['lost', 'car'],
    ['changed', 'bus'], // less sure
    ['changed', 'car'], // moved
    ['gained', 'truck'],
  ]);
  expect(new Set(compared.map(({ id }) => id)).size).toBe(5);
  expect(countChanges(compared)).toEqual({ gained: 1, lost: 1, changed: 2, same: 1 });
});

test('each box has one partner, the one that it overlaps most', () => {
  const compared = compareBoxes([box(0, 'car', 0), box(1, 'car', 20)], [box(0, 'car', 20)]);
  expect(compared.map(({ change }) => change)).toEqual(['lost', 'same']);
});

test('every box of both is counted once', () => {
  const some = fc
    .array(fc.tuple(fc.constantFrom('car', 'bus'), fc.integer({ min: 0, max: 400 })))
    .map((boxes) => boxes.map(([name, x], id) => box(id, name, x)));
  fc.assert(
    fc.property(some, some, (a, b) => {
      const counts = countChanges(compareBoxes(a, b));
      expect(counts.lost + counts.changed + counts.same).toBe(a.length);
      expect(counts.gained + counts.changed + counts.same).toBe(b.length);
      expect(countChanges(compareBoxes(a, a))).toMatchObject({ gained: 0, lost: 0 });
    }),
  );
});
