/** Polygons whose areas and insides can be reckoned by hand, and what holds for any. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areaWithin, holds, polygonFault, type Point } from '../../src/base/polygon.js';

const rectangle = (left: number, top: number, right: number, bottom: number): Point[] => [
  [left, top],
  [right, top],
  [right, bottom],
  [left, bottom],
];
const WHOLE = rectangle(0, 0, 1, 1);
const TRIANGLE: Point[] = [
  [0, 0],
  [1, 0],
  [0, 1],
];
/** A U, open at its top: two arms of a quarter's width and the bottom quarter. */
const CUP: Point[] = [
  [0, 0],
  [0.25, 0],
  [0.25, 0.75],
  [0.75, 0.75],
  [0.75, 0],
  [1, 0],
  [1, 1],
  [0, 1],
];

describe('a polygon is refused that', () => {
  it.each<[string, Point[]]>([
    ['is a bow tie', [[0, 0], [1, 1], [1, 0], [0, 1]]],
    ['crosses itself away from its corners', [[0, 0], [1, 0], [1, 1], [0.4, -0], [0.2, 0.9]]],
    ['touches itself with a corner', [[0, 0], [1, 0], [1, 1], [0.5, 0], [0, 1]]],
    ['passes through one point twice', [[0, 0], [0.5, 0.5], [1, 0], [1, 1], [0.5, 0.5], [0, 1]]],
    ['goes back on itself', [[0, 0], [0.8, 0], [0.4, 0], [0.4, 0.5]]],
    ['runs along its own side', [[0, 0], [1, 0], [1, 0.5], [0.7, 0.5], [0.7, 0], [0.3, 0], [0, 0.5]]],
  ])('%s', (_, points) => {
    expect(polygonFault(points)).toMatch(/^The polygon crosses or touches itself: the line from \[/);
  }); // prettier-ignore

  it.each<[string, Point[]]>([
    ['is one point', [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]],
    ['is a line there and back', [[0, 0], [1, 1], [0, 0]]],
    ['lies on one line', [[0, 0], [0.25, 0.5], [0.5, 1]]],
    ['is thinner than any picture shows', [[0, 0], [1, 0], [1, 1e-10]]],
  ])('%s', (_, points) => {
    expect(polygonFault(points)).toBe('The polygon encloses no area.');
  }); // prettier-ignore
});

it.each<[string, Point[]]>([
  ['the picture', WHOLE],
  ['a triangle', TRIANGLE],
  ['a triangle the other way round', TRIANGLE.toReversed()],
  ['a U', CUP],
  ['its first point repeated at the end', [...CUP, [0, 0]]],
  ['a corner on a straight side', [[0, 0], [0.5, 0], [1, 0], [1, 1]]],
])('%s is a polygon', (_, points) => {
  expect(polygonFault(points)).toBeNull();
}); // prettier-ignore

describe('a point', () => {
  it.each<[string, Point[], Point, boolean]>([
    ['within a triangle', TRIANGLE, [0.3, 0.3], true],
    ['beyond its long side', TRIANGLE, [0.6, 0.6], false],
    ['in an arm of the U', CUP, [0.1, 0.1], true],
    ['between its arms', CUP, [0.5, 0.5], false],
    ['in its bottom', CUP, [0.5, 0.9], true],
    ['at the height of a corner', [[0, 0.5], [0.5, 0], [1, 0.5], [0.5, 1]], [0.5, 0.5], true],
    ['left of it, at the height of a corner', [[0.2, 0.5], [0.5, 0], [1, 0.5], [0.5, 1]], [0.1, 0.5], false],
  ])('%s', (_, polygon, point, inside) => {
    expect(holds(polygon, point)).toBe(inside);
    expect(holds(polygon.toReversed(), point)).toBe(inside);
  }); // prettier-ignore

  it('on an edge lies in the polygon to its right or below it', () => {
    const [left, right] = [rectangle(0.25, 0.25, 0.5, 0.75), rectangle(0.5, 0.25, 0.75, 0.75)];
    const inWhich = (point: Point) => [left, right].map((polygon) => holds(polygon, point));
    expect(inWhich([0.5, 0.5])).toEqual([false, true]);
    expect(inWhich([0.25, 0.5])).toEqual([true, false]);
    expect(inWhich([0.75, 0.5])).toEqual([false, false]);
    expect(inWhich([0.3, 0.25])).toEqual([true, false]);
    expect(inWhich([0.3, 0.75])).toEqual([false, false]);
    expect(inWhich([0.5, 0.25])).toEqual([false, true]);
  });

  it('on the right or bottom side of the picture lies in what ends there', () => {
    for (const point of [
      [0.5, 1],
      [1, 0.5],
      [1, 1],
      [0, 1],
      [1, 0],
      [0, 0],
    ] as const) {
      // prettier-ignore
      expect(holds(WHOLE, point)).toBe(true);
    }
    const halves = [rectangle(0, 0, 0.5, 1), rectangle(0.5, 0, 1, 1)];
    expect(halves.map((half) => holds(half, [0.5, 1]))).toEqual([false, true]);
  });
});

const share = fc.integer({ min: 0, max: 64 }).map((part) => part / 64);
const point = fc.tuple(share, share);

describe('for any point', () => {
  /** Rows of a grid that are cut by a broken line: concave polygons that fill the picture without overlap. */
  const tiles = fc
    .array(fc.array(share, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 6 })
    .map((lines) => {
      const borders = lines.reduce<number[][]>(
        (above, line) => [...above, line.map((y, at) => Math.max(y, above.at(-1)![at]!))],
        [[0, 0, 0, 0, 0]],
      );
      borders.push([1, 1, 1, 1, 1]);
      const corners = (line: number[]) => line.map((y, at): Point => [at / 4, y]);
      return borders
        .slice(1)
        .map((line, at) => [...corners(borders[at]!), ...corners(line).toReversed()]);
    });

  it('exactly one of polygons that fill the picture has it', () => {
    fc.assert(
      fc.property(tiles, point, (polygons, each) => {
        expect(polygons.filter((polygon) => holds(polygon, each))).toHaveLength(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('also where borders are slanted and numbers are odd', () => {
    const odd = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        odd,
        odd,
        odd,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (top, bottom, y, at) => {
          const left: Point[] = [[0, 0], [top, 0], [bottom, 1], [0, 1]]; // prettier-ignore
          const right: Point[] = [[1, 1], [bottom, 1], [top, 0], [1, 0]]; // prettier-ignore
          // On the common border, as far as numbers can be, or anywhere.
          for (const x of [top + y * (bottom - top), at]) {
            expect([left, right].filter((half) => holds(half, [x, y]))).toHaveLength(1);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('the area of a polygon within a box', () => {
  it.each<[string, Point[], [number, number, number, number], number]>([
    ['that it holds', WHOLE, [0.25, 0.25, 0.75, 0.5], 0.125],
    ['that holds it', rectangle(0.25, 0.25, 0.75, 0.5), [0, 0, 1, 1], 0.125],
    ['beside it', rectangle(0, 0, 0.25, 0.25), [0.5, 0.5, 1, 1], 0],
    ['that touches it', rectangle(0, 0, 0.5, 0.5), [0.5, 0, 1, 0.5], 0],
    ['at its corner', rectangle(0, 0, 0.5, 0.5), [0.25, 0.25, 1, 1], 0.0625],
    ['on its slanted side', TRIANGLE, [0, 0, 1, 1], 0.5],
    ['whose corner is cut off', TRIANGLE, [0.25, 0.25, 0.75, 0.75], 0.125],
    ['of a U, across both arms', CUP, [0, 0, 1, 0.5], 0.25],
    ['of a U, across both arms and the bottom', CUP, [0, 0.5, 1, 1], 0.375],
    ['between the arms of a U', CUP, [0.25, 0, 0.75, 0.75], 0],
    ['of no area', WHOLE, [0.5, 0, 0.5, 1], 0],
  ])('%s', (_, polygon, box, area) => {
    expect(areaWithin(polygon, box)).toBeCloseTo(area, 12);
    expect(areaWithin(polygon.toReversed(), box)).toBeCloseTo(area, 12);
  });

  it('of any simple polygon is what points of a fine grid say', () => {
    const star = fc
      .array(fc.integer({ min: 5, max: 50 }), { minLength: 3, maxLength: 12 })
      .map((rays) =>
        rays.map((length, at): Point => {
          const angle = (2 * Math.PI * at) / rays.length;
          return [0.5 + (length / 100) * Math.cos(angle), 0.5 + (length / 100) * Math.sin(angle)];
        }),
      );
    const box = fc
      .tuple(point, point)
      .map(([[a, b], [c, d]]) => [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)]);
    const steps = 100;
    fc.assert(
      fc.property(star, box, (polygon, [left = 0, top = 0, right = 0, bottom = 0]) => {
        let inside = 0;
        for (let column = 0; column < steps; column += 1) {
          for (let row = 0; row < steps; row += 1) {
            const x = left + ((column + 0.5) / steps) * (right - left);
            const y = top + ((row + 0.5) / steps) * (bottom - top);
            if (holds(polygon, [x, y])) inside += 1;
          }
        }
        const expected = (inside / steps ** 2) * (right - left) * (bottom - top);
        const found = areaWithin(polygon, [left, top, right, bottom]);
        expect(Math.abs(found - expected)).toBeLessThan(
          0.02 * (right - left) * (bottom - top) + 1e-9,
        );
      }),
      { numRuns: 60 },
    );
  });
});
