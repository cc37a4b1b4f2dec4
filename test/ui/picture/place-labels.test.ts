import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  LABEL_HEIGHT,
  labelPlace,
  placeLabels,
  type Rect,
} from '../../../src/ui/picture/place-labels.js';

const VIEW = { width: 800, height: 600 };
const rect = (x: number, y: number, width: number, height: number): Rect => ({
  x,
  y,
  width,
  height,
});
const labelled = (box: Rect, labelWidth = 60) => ({ rect: box, labelWidth });

const overlaps = (a: Rect, b: Rect) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test('a label stands above its box', () => {
  expect(placeLabels([labelled(rect(100, 100, 80, 50))], VIEW)).toEqual([
    rect(100, 100 - LABEL_HEIGHT, 60, LABEL_HEIGHT),
  ]);
});

test('at an edge it moves aside: to the left, below, or inside', () => {
  const [corner, top, whole] = [rect(760, 100, 40, 50), rect(100, 2, 80, 50), rect(0, 0, 800, 600)];
  expect(placeLabels([labelled(corner)], VIEW)[0]).toMatchObject({ x: 740 });
  expect(placeLabels([labelled(top)], VIEW)[0]).toMatchObject({ y: 52 });
  expect(placeLabels([labelled(whole)], VIEW)[0]).toMatchObject({ x: 0, y: 0 });
});

test('a box lower than its label has none until it is pointed at', () => {
  const low = rect(100, 100, 80, LABEL_HEIGHT - 1);
  expect(placeLabels([labelled(low)], VIEW)).toEqual([null]);
  expect(labelPlace(low, 60, VIEW)).toEqual(rect(100, 100 - LABEL_HEIGHT, 60, LABEL_HEIGHT));
});

test('a label that would hide another box is left out', () => {
  // All four places around the large box hold a small one; inside there is room.
  const large = rect(200, 200, 200, 100);
  const small = [[200, 182], [340, 182], [200, 300], [340, 300]].map(([x, y]) => rect(x!, y!, 60, 18)); // prettier-ignore
  const [label] = placeLabels(
    [large, ...small].map((box) => labelled(box)),
    VIEW,
  );
  expect(label).toEqual(rect(200, 200, 60, LABEL_HEIGHT));
});

test('no two labels overlap and all lie in the view, whatever the boxes', () => {
  const box = fc
    .tuple(
      fc.nat(780),
      fc.nat(580),
      fc.integer({ min: 4, max: 400 }),
      fc.integer({ min: 4, max: 300 }),
      fc.integer({ min: 30, max: 120 }),
    ) // prettier-ignore
    .map(([x, y, width, height, labelWidth]) => labelled(rect(x, y, width, height), labelWidth));
  fc.assert(
    fc.property(fc.array(box, { minLength: 1, maxLength: 60 }), (boxes) => {
      const labels = placeLabels(boxes, VIEW);
      const placed = labels.filter((label) => label !== null);
      for (const [index, label] of placed.entries()) {
        expect(label.x >= 0 && label.y >= 0).toBe(true);
        expect(label.x + label.width <= VIEW.width && label.y + label.height <= VIEW.height).toBe(
          true,
        );
        for (const other of placed.slice(index + 1)) expect(overlaps(label, other)).toBe(false);
      }
    }),
    { numRuns: 100 },
  );
});
