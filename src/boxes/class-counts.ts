/** How many boxes of each class there are. */
import type { Detection, RegionCounts } from '../api/schemas/image.js';
import { classKey } from '../api/class-key.js';

export function countClasses(detections: readonly Pick<Detection, 'class'>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { class: name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Models spell the class `car` or `Car`; both are cars. */
export function countCars(counts: ReadonlyMap<string, number>): number {
  let cars = 0;
  for (const [name, count] of counts) if (classKey(name) === 'car') cars += count;
  return cars;
}

/** Counts the boxes in each of the regions with these names. A box may lie in several regions that overlap. */
export function countRegions(
  detections: readonly Pick<Detection, 'class' | 'regions'>[],
  names: readonly string[],
): RegionCounts {
  const counts = names.map((name) => {
    const inside = detections.filter(({ regions = [] }) => regions.includes(name));
    return [name, Object.fromEntries(countClasses(inside))] as const;
  });
  return Object.fromEntries(counts);
}

/** Counts of several images, added up by the name of the region. */
export class RegionSums {
  readonly sums = new Map<string, Map<string, number>>();

  add(counts: RegionCounts | undefined): void {
    for (const [region, classes] of Object.entries(counts ?? {})) {
      const sum = this.sums.get(region) ?? new Map<string, number>();
      this.sums.set(region, sum);
      for (const [name, count] of Object.entries(classes)) {
        const boxes = (sum.get(name) ?? 0) + count;
        if (boxes === 0) sum.delete(name);
        else sum.set(name, boxes);
      }
    }
  }

  /** Undefined where no image had regions. */
  get counts(): RegionCounts | undefined {
    if (this.sums.size === 0) return undefined;
    const rows = [...this.sums].map(([region, sum]) => [region, Object.fromEntries(sum)] as const);
    return Object.fromEntries(rows);
  }
}

/** Sums the rows that a job keeps: each region has one without class and boxes too. Undefined where there are none. */
export function sumOfRegions(
  rows: readonly { region: string; class: string; boxes: number }[],
): RegionCounts | undefined {
  const sums = new RegionSums();
  for (const { region, class: name, boxes } of rows) {
    sums.add({ [region]: boxes === 0 ? {} : { [name]: boxes } });
  }
  return sums.counts;
}
