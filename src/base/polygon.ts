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
    for (let next = at + 1; next < edges.length; next += 1) {
      const other = edges[next];
      if (other === undefined) continue;
      // Neighbours share one end: they meet elsewhere only where the second goes back along the first.
      const follows = next === at + 1;
      const precedes = at === 0 && next === edges.length - 1;
      const neighbours = follows || precedes;
      const crosses = neighbours
        ? (follows && goesBack(edge, other)) || (precedes && goesBack(other, edge))
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
  let start = polygon.at(-1);
  for (const end of polygon) {
    if (start !== undefined && isAbove(start) !== isAbove(end)) {
      // Ordered from top to bottom, so that polygons with a common edge compute the same point on it.
      const [upper, lower] = start[1] < end[1] ? [start, end] : [end, start];
      const at = upper[0] + ((y - upper[1]) / (lower[1] - upper[1])) * (lower[0] - upper[0]);
      if (x < 1 ? x < at : x <= at) inside = !inside;
    }
    start = end;
  }
  return inside;
}

/**
 * Area of the part of the polygon that lies in the rectangle; the polygon need not be convex. It is the sum of what
 * lies between each edge and the top of the rectangle, as far as both are in it, with the sign of the edge's direction.
 */
export function areaWithin(polygon: readonly Point[], rectangle: Rectangle): number {
  let sum = 0;
  let start = polygon.at(-1);
  for (const end of polygon) {
    if (start !== undefined) sum += aboveEdge(start, end, rectangle);
    start = end;
  }
  return Math.abs(sum);
}

function aboveEdge(start: Point, end: Point, [left, top, right, bottom]: Rectangle): number {
  // Most edges have no part of the rectangle above them.
  if (start[0] <= left && end[0] <= left) return 0;
  if (start[0] >= right && end[0] >= right) return 0;
  if (start[1] <= top && end[1] <= top) return 0;
  const from = clamp(start[0], left, right);
  const to = clamp(end[0], left, right);
  if (from === to) return 0;
  if (start[1] >= bottom && end[1] >= bottom) return (to - from) * (bottom - top);
  const heightAt = (x: number) =>
    start[1] + ((x - start[0]) / (end[0] - start[0])) * (end[1] - start[1]);
  const first = heightAt(from);
  const last = heightAt(to);
  const height = (share: number) => clamp(first + share * (last - first), top, bottom) - top;
  // Between the points where it crosses the top and the bottom of the rectangle the edge is straight.
  const crosses = (side: number) =>
    first === last ? 0 : clamp((side - first) / (last - first), 0, 1);
  const near = Math.min(crosses(top), crosses(bottom));
  const far = Math.max(crosses(top), crosses(bottom));
  const twice =
    near * (height(0) + height(near)) +
    (far - near) * (height(near) + height(far)) +
    (1 - far) * (height(far) + height(1));
  return ((to - from) * twice) / 2;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** The area of the polygon. Its sign tells the direction of the corners. */
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
