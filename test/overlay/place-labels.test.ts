import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeLabels, type Rect } from '../../src/overlay/place-labels.js';

const VIEW = { width: 640, height: 480 };
const label = { width: 60, height: 18 };
const at = (x: number, y: number, width = 100, height = 80): Rect => ({ x, y, width, height });

const meet = (a: Rect, b: Rect) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test('a label stands above its box', () => {
  expect(placeLabels([{ rect: at(50, 50), label }], VIEW)).toEqual([{ x: 50, y: 32, ...label }]);
});

test('at the upper edge of the picture it stands below', () => {
  expect(placeLabels([{ rect: at(50, 0), label }], VIEW)).toEqual([{ x: 50, y: 80, ...label }]);
});

test('at the right edge it is moved to the left', () => {
  const [place] = placeLabels([{ rect: at(620, 50, 20), label }], VIEW);
  expect(place).toEqual({ x: 580, y: 32, ...label });
});

test('a box that fills the picture has its label inside', () => {
  expect(placeLabels([{ rect: at(0, 0, 640, 480), label }], VIEW)).toEqual([
    { x: 0, y: 0, ...label },
  ]);
});

test('of two boxes in one place the first keeps the better one', () => {
  const [first, second] = placeLabels(
    [
      { rect: at(50, 50), label },
      { rect: at(50, 50), label },
    ],
    VIEW,
  );
  expect(first).toEqual({ x: 50, y: 32, ...label });
  expect(second).not.toBeNull();
  expect(meet(first!, second!)).toBe(false);
});

test('a small box is not hidden by the label of another one', () => {
  const small = at(60, 34, 20, 14);
  const [place] = placeLabels(
    [
      { rect: at(50, 50), label },
      { rect: small, label: null },
    ],
    VIEW,
  );
  expect(meet(place!, small)).toBe(false);
});

test('labels of any boxes lie in the picture and never cover each other', () => {
  const rect = fc.record({
    x: fc.double({ min: 0, max: 600, noNaN: true }),
    y: fc.double({ min: 0, max: 440, noNaN: true }),
    width: fc.double({ min: 1, max: 300, noNaN: true }),
    height: fc.double({ min: 1, max: 300, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(rect, { maxLength: 40 }), (rects) => {
      const places = placeLabels(
        rects.map((each) => ({ rect: each, label })),
        VIEW,
      );
      const shown = places.filter((place) => place !== null);
      expect(places).toHaveLength(rects.length);
      for (const [index, place] of shown.entries()) {
        expect(place.x >= 0 && place.y >= 0).toBe(true);
        expect(place.x + 60 <= 640 && place.y + 18 <= 480).toBe(true);
        expect(shown.slice(index + 1).some((other) => meet(place, other))).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});
