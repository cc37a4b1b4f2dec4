/**
 * Rules of regions beyond the types of their fields. Plain data, so that the page says the same while they are drawn.
 */
import { polygonFault } from '../base/polygon.js';

/** A part of the picture that is counted by itself. Null counts as not given. */
export interface Region {
  name: string;
  /** Corners in shares of the picture's width and height. */
  polygon: readonly (readonly [x: number, y: number])[];
  /** The classes that the region counts. Absent: all. */
  classes?: readonly string[] | null | undefined;
  /** The place of a box that must lie in the polygon, or the share of its area that must. */
  anchor?: (typeof ANCHORS)[number] | number | null | undefined;
  /** A mask: what lies in it is left out of the result. */
  ignore?: boolean | null | undefined;
}

/** The first is the default. */
export const ANCHORS = ['bottom', 'centre'] as const;

export const REGION_LIMITS = { regions: 50, points: 100, classes: 100 };
export const LEAST_POINTS = 3;
export const MOST_REGION_NAME = 64;

export interface RegionFault {
  /** Number of the region. */
  at: number;
  field: 'name' | 'polygon';
  message: string;
}

/**
 * Names that an earlier region has, and polygons that enclose no part of the picture. Too few points are left to the
 * caller.
 */
export function regionFaults(regions: readonly Region[]): RegionFault[] {
  const first = new Map(regions.map(({ name }, at) => [name, at] as const).reverse());
  return regions.flatMap(({ name, polygon }, at) => {
    const faults: RegionFault[] = [];
    if (first.get(name) !== at) {
      faults.push({ at, field: 'name', message: 'An earlier region has this name.' });
    }
    const fault = polygon.length < LEAST_POINTS ? null : polygonFault(polygon);
    if (fault !== null) faults.push({ at, field: 'polygon', message: fault });
    return faults;
  });
}
