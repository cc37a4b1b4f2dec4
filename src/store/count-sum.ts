/** Images added up: how many there are, their boxes by class and by region, and the sources of their times. */
import { RegionSums } from '../boxes/class-counts.js';
import type { Detection, RegionCounts } from '../api/schemas/image.js';
import type { TimeSource } from '../files/wall-time.js';
import type { ImageCounts } from './job.js';

/** A sum as plain data: the store keeps it as JSON. */
export interface SumRow {
  /** Images that have ended, also without boxes or in error. */
  images: number;
  failed: number;
  /** Processed, without boxes. */
  empty: number;
  classes: Readonly<Record<string, number>>;
  /** Absent where no regions were asked for. */
  regions?: RegionCounts | undefined;
  /** Images by the source of their time; `none`: it is not known. */
  sources: Readonly<Partial<Record<TimeSource | 'none', number>>>;
}

export class CountSum {
  readonly classes = new Map<string, number>();
  readonly #regions = new RegionSums();
  readonly #sources = new Map<TimeSource | 'none', number>();
  images = 0;
  failed = 0;
  empty = 0;

  constructor(row?: SumRow) {
    if (row !== undefined) this.merge(row);
  }

  add({ failed, classCounts, regionCounts, taken }: ImageCounts): void {
    this.images += 1;
    addTo(this.#sources, taken?.source ?? 'none', 1);
    const classes = Object.entries(classCounts);
    if (failed) this.failed += 1;
    else if (classes.length === 0) this.empty += 1;
    for (const [name, boxes] of classes) addTo(this.classes, name, boxes);
    this.#regions.add(regionCounts);
  }

  /** Adds a processed image, but for the source of its time. */
  addBoxes(detections: readonly Detection[], regionCounts: RegionCounts | undefined): void {
    this.images += 1;
    if (detections.length === 0) this.empty += 1;
    for (const { class: name } of detections) addTo(this.classes, name, 1);
    this.#regions.add(regionCounts);
  }

  merge({ images, failed, empty, classes, regions, sources }: SumRow): void {
    this.images += images;
    this.failed += failed;
    this.empty += empty;
    for (const [name, boxes] of Object.entries(classes)) addTo(this.classes, name, boxes);
    for (const [name, count] of Object.entries(sources)) {
      addTo(this.#sources, name as TimeSource | 'none', count);
    }
    this.#regions.add(regions);
  }

  get detections(): number {
    return [...this.classes.values()].reduce((sum, boxes) => sum + boxes, 0);
  }

  /** Boxes by region and class. */
  get regions(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#regions.sums;
  }

  toRow(): SumRow {
    return {
      images: this.images,
      failed: this.failed,
      empty: this.empty,
      classes: Object.fromEntries(this.classes),
      regions: this.#regions.counts,
      sources: Object.fromEntries(this.#sources),
    };
  }
}

function addTo<K>(counts: Map<K, number>, key: K, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** The row that takes this one back where it is merged; a region without boxes stays. */
export function negated({ images, failed, empty, classes, regions = {}, sources }: SumRow): SumRow {
  const regionRows = Object.entries(regions).map(([name, own]) => [name, negative(own)] as const);
  return {
    images: -images,
    failed: -failed,
    empty: -empty,
    classes: negative(classes),
    regions: Object.fromEntries(regionRows),
    sources: negative(sources),
  };
}

function negative(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, -count]));
}

/** Sums of images by folder and hour. `hour`: `2025-11-26T14`, empty where the time is not known. */
export class SumsByHour {
  readonly #sums = new Map<string, { folder: string; hour: string; sum: CountSum }>();

  of(folder: string, hour: string): CountSum {
    const key = `${hour} ${folder}`;
    const known = this.#sums.get(key);
    if (known !== undefined) return known.sum;
    const sum = new CountSum();
    this.#sums.set(key, { folder, hour, sum });
    return sum;
  }

  rows(): HourRow[] {
    return [...this.#sums.values()].map(({ sum, ...at }) => ({ ...at, sum: sum.toRow() }));
  }
}

export interface HourRow {
  folder: string;
  hour: string;
  sum: SumRow;
}
