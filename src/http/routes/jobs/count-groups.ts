/** Images of a job added up: all together, and by image, folder, hour or day. */
import { posix } from 'node:path';
import { z } from '@hono/zod-openapi';
import { RegionSums } from '../../../boxes/class-counts.js';
import { TIME_SOURCES, type TimeSource } from '../../../files/wall-time.js';
import type { Grouping } from '../../../api/job-values.js';
import type { ImageCounts } from '../../../store/job.js';
import type { HideFolders } from '../../../answers/shown-problem.js';

/** `none`: not known. */
export const COUNTED_SOURCES = [...TIME_SOURCES, 'none'] as const;
const timeSourceSchema = z.enum(COUNTED_SOURCES);

const classCountsSchema = z.record(z.string(), z.int());

export const sumSchema = z
  .object({
    images: z.int().openapi({ description: 'That have ended, also without boxes or in error' }),
    failed_images: z.int(),
    empty_images: z.int().openapi({ description: 'Processed, without boxes' }),
    detections: z.int(),
    class_counts: classCountsSchema,
    region_counts: z
      .record(z.string(), classCountsSchema)
      .optional()
      .openapi({ description: 'Present where regions were asked for' }),
    time_sources: z
      .partialRecord(timeSourceSchema, z.int())
      .openapi({ description: 'Images by where their time comes from' }),
  })
  .openapi('CountSum');

export const groupSchema = z
  .object({
    group: z.string().nullable().openapi({
      description:
        'The path of the image, the folder, `2025-11-26T14:00` or `2025-11-26`; null for images without a time',
      example: '2025-11-26T14:00',
    }),
    time: z.string().nullable().optional().openapi({
      description:
        'With `by=image`: when the picture was taken, as the clock on the wall showed it, without a zone',
      example: '2025-11-26T14:30:00',
    }),
    time_source: timeSourceSchema.optional().openapi({ description: 'Of `time`' }),
    ...sumSchema.shape,
    time_sources: sumSchema.shape.time_sources.optional(),
  })
  .openapi('CountGroup');

export type SumBody = z.infer<typeof sumSchema>;
export type GroupBody = z.infer<typeof groupSchema>;

export class CountSum {
  readonly classes = new Map<string, number>();
  readonly #regions = new RegionSums();
  readonly sources = new Map<TimeSource | 'none', number>();
  images = 0;
  failed = 0;
  empty = 0;
  detections = 0;

  add({ failed, classCounts, regionCounts, taken }: ImageCounts): void {
    this.images += 1;
    addTo(this.sources, taken?.source ?? 'none', 1);
    const classes = Object.entries(classCounts);
    if (failed) this.failed += 1;
    else if (classes.length === 0) this.empty += 1;
    for (const [name, boxes] of classes) {
      this.detections += boxes;
      addTo(this.classes, name, boxes);
    }
    this.#regions.add(regionCounts);
  }

  /** Boxes by region and class. */
  get regions(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#regions.sums;
  }

  toWire(): SumBody {
    const regions = sorted(this.regions).map(([region, counts]) => [
      region,
      Object.fromEntries(sorted(counts)),
    ]);
    return {
      images: this.images,
      failed_images: this.failed,
      empty_images: this.empty,
      detections: this.detections,
      class_counts: Object.fromEntries(sorted(this.classes)),
      ...(regions.length === 0
        ? {}
        : { region_counts: Object.fromEntries(regions) as SumBody['region_counts'] }),
      time_sources: Object.fromEntries(this.sources),
    };
  }
}

/** The group of the image; null: it has no time. */
export function groupOf(
  by: Exclude<Grouping, 'image'>,
  { path, taken }: ImageCounts,
  hide: HideFolders,
): string | null {
  if (by === 'folder') return posix.dirname(hide(path));
  if (taken === null) return null;
  return by === 'day' ? taken.time.slice(0, 10) : `${taken.time.slice(0, 13)}:00`;
}

export function toWireGroup(group: string | null, sum: CountSum): GroupBody {
  return { group, ...sum.toWire() };
}

/** An image as a group of its own. */
export function toWireCounted(image: ImageCounts, hide: HideFolders): GroupBody {
  const { path, taken } = image;
  const sum = new CountSum();
  sum.add(image);
  const counts: Omit<GroupBody, 'group'> = sum.toWire();
  delete counts.time_sources;
  return {
    group: hide(path),
    time: taken?.time ?? null,
    time_source: taken?.source ?? 'none',
    ...counts,
  };
}

function addTo<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

/** Sorts by code units; the unknown group comes last. */
export function sorted<K extends string | null, V>(counts: ReadonlyMap<K, V>): [K, V][] {
  return [...counts].sort(([a], [b]) =>
    a === null ? 1 : b === null ? -1 : a < b ? -1 : a > b ? 1 : 0,
  );
}
