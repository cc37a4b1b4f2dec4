/**
 * Rules of regions beyond the types of their fields. Plain data, so that the page says the same while they are drawn.
 */
import { polygonFault } from '../base/polygon.js';
import type { Region } from './options.js';

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
