/** Polygons as lists of their corners. Pure functions; all numbers are shares of a picture's sides, 0 to 1. */

export type Point = readonly [x: number, y: number];
export type Rectangle = readonly [left: number, top: number, right: number, bottom: number];

/** A hundredth of a pixel of a picture of three million. */
const LEAST_AREA = 1e-9;

/** Why these points enclose no part of the picture; null where they do. A repeat of the point before is no corner. */
export function polygonFault(points: readonly Point[]): string | null {
  const corners = points.filter((point, at) => !same(point, points.at(at - 1) as Point));
  if (corners.length < 3 || onOneLine(corners)) return 'The polygon encloses no area.';
  const edges = edgesOf(corners);
  for (const [at, edge] of edges.entries()) {
    const next = edges[(at + 1) % edges.length] as Edge;
    // Of neighbours one end is common: they meet elsewhere only if the second goes back along the first.
    if (turn(edge[0], edge[1], next[1]) === 0 && ahead(edge, next) < 0) return crossing(edge, next);
    const last = at === 0 ? edges.length - 1 : edges.length;
    for (const other of edges.slice(at + 2, last))
      if (meet(edge, other)) return crossing(edge, other);
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
  return corners.map((end, at) => [corners.at(at - 1) as Point, end]);
}

function same([ax, ay]: Point, [bx, by]: Point): boolean {
  return ax === bx && ay === by;
}

/** Twice the area of the triangle: its sign says on which side of the line from a to b the point c lies. */
function turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

/** Below 0 where the second edge goes back. */
function ahead([[ax, ay], [bx, by]]: Edge, [, [cx, cy]]: Edge): number {
  return (bx - ax) * (cx - bx) + (by - ay) * (cy - by);
}

function onOneLine(corners: readonly Point[]): boolean {
  const first = corners[0] as Point;
  const distance = ([x, y]: Point) => Math.hypot(x - first[0], y - first[1]);
  const farthest = corners.reduce((far, each) => (distance(each) > distance(far) ? each : far));
  return corners.every((each) => Math.abs(turn(first, farthest, each)) < LEAST_AREA);
}

/** Whether the edges have a point in common. */
function meet([a, b]: Edge, [c, d]: Edge): boolean {
  const sides = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)].map(Math.sign);
  const [c1, d1, a1, b1] = sides as [number, number, number, number];
  if (c1 !== d1 && a1 !== b1) return true;
  return (
    (c1 === 0 && between(a, b, c)) ||
    (d1 === 0 && between(a, b, d)) ||
    (a1 === 0 && between(c, d, a)) ||
    (b1 === 0 && between(c, d, b))
  );
}

/** Of a point on the line through a and b. */
function between([ax, ay]: Point, [bx, by]: Point, [x, y]: Point): boolean {
  const inRange = (value: number, one: number, other: number) =>
    value >= Math.min(one, other) && value <= Math.max(one, other);
  return inRange(x, ax, bx) && inRange(y, ay, by);
}

function crossing(one: Edge, other: Edge): string {
  const text = ([start, end]: Edge) => `from [${start.join(', ')}] to [${end.join(', ')}]`;
  return `The polygon crosses or touches itself: the line ${text(one)} and the line ${text(other)}.`;
}
