import type { ImageFields } from '../../client/records.js';

type RegionCounts = NonNullable<ImageFields['region_counts']>;

/** Boxes of any class, by region. */
export function regionSums(counts: RegionCounts = {}): ReadonlyMap<string, number> {
  const sum = (byClass: Record<string, number>) =>
    Object.values(byClass).reduce((all, boxes) => all + boxes, 0);
  return new Map(Object.entries(counts).map(([name, byClass]) => [name, sum(byClass)]));
}
