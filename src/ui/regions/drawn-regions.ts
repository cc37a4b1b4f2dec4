/** Regions while they are drawn. Pure functions; corners are shares of the picture's width and height. */
import { LEAST_POINTS, REGION_LIMITS, regionFaults, type Region } from '../../api/region-rules.js';
import { shareOf, type PicturePoint } from '../picture/view-window.js';

export type Polygon = Region['polygon'];

const RECTANGLE: Polygon = [
  [0.35, 0.35],
  [0.65, 0.35],
  [0.65, 0.65],
  [0.35, 0.65],
];
const STEP = 0.01;
const FINE_STEP = 0.001;

export interface DrawingFault {
  at: number;
  message: string;
}

/** The service refuses these too. */
export function drawingFaults(regions: readonly Region[]): DrawingFault[] {
  const unnamed = regions.flatMap(({ name }, at) =>
    name === '' ? [{ at, message: 'A region needs a name.' }] : [],
  );
  const faults = regionFaults(regions).filter(
    ({ at, field }) => field !== 'name' || regions[at]?.name !== '',
  );
  return [...unnamed, ...faults];
}

/** The fault of a polygon that would be closed now; null also while it has too few corners. */
export function draftFault(polygon: Polygon): string | null {
  return drawingFaults([{ name: 'new', polygon }])[0]?.message ?? null;
}

/** `polygon` is a rectangle in the middle unless one is given. */
export function newRegion(regions: readonly Region[], polygon: Polygon = RECTANGLE): Region {
  const names = new Set(regions.map(({ name }) => name));
  let number = 1;
  while (names.has(`region ${number}`)) number += 1;
  return { name: `region ${number}`, polygon };
}

export function withRegion(
  regions: readonly Region[],
  at: number,
  changes: Partial<Region>,
): Region[] {
  return regions.map((region, index) => (index === at ? { ...region, ...changes } : region));
}

export function withCornerAt(polygon: Polygon, corner: number, to: PicturePoint): Polygon {
  return polygon.map((each, index) => (index === corner ? shareOf(...to) : each));
}

/** A new corner in the middle of the side that begins at this corner. */
export function withCornerAfter(polygon: Polygon, corner: number): Polygon {
  if (polygon.length >= REGION_LIMITS.points) return polygon;
  return [
    ...polygon.slice(0, corner + 1),
    middleAfter(polygon, corner),
    ...polygon.slice(corner + 1),
  ];
}

export function middleAfter(polygon: Polygon, corner: number): PicturePoint {
  const [x, y] = polygon[corner] ?? [0, 0];
  const [nextX, nextY] = polygon[(corner + 1) % polygon.length] ?? [x, y];
  return shareOf((x + nextX) / 2, (y + nextY) / 2);
}

/** The last three stay. */
export function withoutCorner(polygon: Polygon, corner: number): Polygon {
  if (polygon.length <= LEAST_POINTS) return polygon;
  return polygon.filter((_, index) => index !== corner);
}

/** The point to which an arrow key moves a corner; null for other keys. */
export function steppedBy(key: string, isFine: boolean, [x, y]: PicturePoint): PicturePoint | null {
  const step = isFine ? FINE_STEP : STEP;
  const moves: Record<string, PicturePoint> = {
    ArrowLeft: [x - step, y],
    ArrowRight: [x + step, y],
    ArrowUp: [x, y - step],
    ArrowDown: [x, y + step],
  };
  const to = moves[key];
  return to === undefined ? null : shareOf(...to);
}
