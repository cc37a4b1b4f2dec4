/** Polygons as lists of their corners. Pure functions; all numbers are shares of a picture's sides, 0 to 1. */

export type Point = readonly [x: number, y: number];
export type Rectangle = readonly [left: number, top: number, right: number, bottom: number];

/** A hundredth of a pixel of a picture of three million. */
const LEAST_AREA = 1e-9;

/** Why these points enclose no part of the picture; null where they do. A repeat of the point before is no corner. */
export function polygonFault(points: readonly Point[]): string | null {
  const corners = points.filter((point, at) => !same(point, points.at(at - 1)));
  if (corners.length < 3 || onOneLine(corners)) return 'The polygon encloses no area.';
  const edges = edgesOf(corners);
  for (const [at, edge] of edges.entries()) {
    for (const [distance, other] of edges.slice(at + 1).entries()) {
      // Of neighbours one end is common: they meet elsewhere only where the second goes back along the first.
      const isNext = distance === 0;
      const isBefore = distance === edges.length - 2;
      const crosses =
        isNext || isBefore
          ? (isNext && goesBack(edge, other)) || (isBefore && goesBack(other, edge))
          : meet(edge, other);
      if (crosses) return crossing(edge, other);
    }
  }
  return Math.abs(area(corners)) < LEAST_AREA ? 'The polygon encloses no area.' : null;
}

/**
 * Whether the point lies in the polygon. Of a point on an edge the place a little to its right and below it decides; at
 * the right and bottom side of the picture the place to its left, or above it. So each point of polygons that touch and
 * do not overlap lies in exactly one of them, and every point of the picture lies in the polygon of the whole picture.
 */
export function holds(polygon: readonly Point[], [x, y]: Point): boolean {
  const isAbove = ([, cornerY]: Point) => (y < 1 ? cornerY <= y : cornerY < y);
  let inside = false;
  for (const [start, end] of edgesOf(polygon)) {
    if (isAbove(start) === isAbove(end)) continue;
    // From above to below, so that polygons with a common edge compute the same place on it.
    const [upper, lower] = start[1] < end[1] ? [start, end] : [end, start];
    const at = upper[0] + ((y - upper[1]) / (lower[1] - upper[1])) * (lower[0] - upper[0]);
    if (x < 1 ? x < at : x <= at) inside = !inside;
  }
  return inside;
}

/** Area of the part of the polygon that lies in the rectangle; the polygon need not be convex. */
export function areaWithin(polygon: readonly Point[], rectangle: Rectangle): number {
  const [left, top, right, bottom] = rectangle;
  const sides = [
    ([x]: Point) => x - left,
    ([, y]: Point) => y - top,
    ([x]: Point) => right - x,
    ([, y]: Point) => bottom - y,
  ];
  // What is cut off at one side leaves edges along it that lie on each other: they enclose nothing.
  return Math.abs(area(sides.reduce(cut, polygon)));
}

/** The part of the polygon where `depth`, which grows evenly across the picture, is not negative. */
function cut(polygon: readonly Point[], depth: (point: Point) => number): readonly Point[] {
  return edgesOf(polygon).flatMap(([start, end]) => {
    const [from, to] = [depth(start), depth(end)];
    const kept = to < 0 ? [] : [end];
    if (from < 0 === to < 0) return kept;
    const share = from / (from - to);
    const [x, y] = [0, 1].map((axis) => {
      const [first = 0, last = 0] = [start[axis], end[axis]];
      return first + share * (last - first);
    }) as [number, number];
    return [[x, y] as const, ...kept];
  });
}

/** By its sign, which way the corners go round. */
function area(corners: readonly Point[]): number {
  return edgesOf(corners).reduce((sum, [[ax, ay], [bx, by]]) => sum + (ax * by - bx * ay) / 2, 0);
}

type Edge = readonly [start: Point, end: Point];

function edgesOf(corners: readonly Point[]): Edge[] {
  return corners.flatMap((end, at) => {
    const start = corners.at(at - 1);
    return start === undefined ? [] : [[start, end] as const];
  });
}

function same([x, y]: Point, other: Point | undefined): boolean {
  return x === other?.[0] && y === other[1];
}

/** Twice the area of the triangle: its sign says on which side of the line from a to b the point c lies. */
function turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

/** Whether the second edge, which begins where the first ends, lies on it. */
function goesBack([a, b]: Edge, [, c]: Edge): boolean {
  const ahead = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
  return turn(a, b, c) === 0 && ahead < 0;
}

function onOneLine(corners: readonly Point[]): boolean {
  const [first] = corners;
  if (first === undefined) return true;
  const distance = ([x, y]: Point) => Math.hypot(x - first[0], y - first[1]);
  const farthest = corners.reduce((far, each) => (distance(each) > distance(far) ? each : far));
  return corners.every((each) => Math.abs(turn(first, farthest, each)) < LEAST_AREA);
}

/** Whether the edges have a point in common. */
function meet([a, b]: Edge, [c, d]: Edge): boolean {
  for (const axis of [0, 1] as const) {
    // Most edges lie apart, which is told soonest.
    if (Math.max(a[axis], b[axis]) < Math.min(c[axis], d[axis])) return false;
    if (Math.max(c[axis], d[axis]) < Math.min(a[axis], b[axis])) return false;
  }
  // The line through each edge has the ends of the other on both sides, or goes through one.
  return turn(a, b, c) * turn(a, b, d) <= 0 && turn(c, d, a) * turn(c, d, b) <= 0;
}

function crossing(one: Edge, other: Edge): string {
  const text = ([start, end]: Edge) => `from [${start.join(', ')}] to [${end.join(', ')}]`;
  return `The polygon crosses or touches itself: the line ${text(one)} and the line ${text(other)}.`;
}
