/** Images added up, as answers have them: all together, and by image, event, folder, hour, day, or folder and hour. */
import { z } from '@hono/zod-openapi';
import { TIME_SOURCES } from '../../../files/wall-time.js';
import { imageNameSchema, toWireName } from '../../../answers/image-name.js';
import { sorted } from '../../../answers/sum-groups.js';
import type { EventRow } from '../../../store/cameras/event-rows.js';
import { CountSum } from '../../../store/count-sum.js';
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
        'The path of the image, the folder, `2025-11-26T14:00` or `2025-11-26`, of an event the time of its first image; null for images without a time',
      example: '2025-11-26T14:00',
    }),
    time: z
      .string()
      .nullable()
      .optional()
      .openapi({
        description:
          'With `by=image`: when the picture was taken, as the clock on the wall showed it, without a zone; with ' +
          '`by=folder_hour`: the hour',
        example: '2025-11-26T14:30:00',
      }),
    time_source: timeSourceSchema.optional().openapi({ description: 'Of `time`' }),
    last_time: z.string().nullable().optional().openapi({
      description: 'With `by=event`: when its last image was taken',
      example: '2025-11-26T14:30:20',
    }),
    camera: z.string().nullable().optional().openapi({
      description:
        'With `by=event`: the folder of its images, with `camera=name` also a part of their names; null with `camera=all`',
    }),
    best_image: z.union([imageNameSchema, z.null()]).optional().openapi({
      description:
        'With `by=event`: the first of its images with the most boxes; null where no image has a box',
    }),
    ...sumSchema.shape,
    time_sources: sumSchema.shape.time_sources.optional(),
  })
  .openapi('CountGroup');

export type SumBody = z.infer<typeof sumSchema>;
export type GroupBody = z.infer<typeof groupSchema>;

export function toWireSum(sum: CountSum): SumBody {
  const { images, failed, empty, classes, sources, regions } = sum.toRow();
  const regionCounts = regions && sortedNames(regions).map(([name, own]) => [name, byName(own)]);
  return {
    images,
    failed_images: failed,
    empty_images: empty,
    detections: sum.detections,
    class_counts: byName(classes),
    ...(regionCounts && {
      region_counts: Object.fromEntries(regionCounts) as SumBody['region_counts'],
    }),
    time_sources: sources,
  };
}

const sortedNames = <V>(values: Readonly<Record<string, V>>): [string, V][] =>
  sorted(new Map(Object.entries(values)));

const byName = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(sortedNames(counts));

export function toWireGroup(group: string | null, sum: CountSum): GroupBody {
  return { group, ...toWireSum(sum) };
}

/** An image as a group of its own. */
export function toWireCounted(image: ImageCounts, hide: HideFolders): GroupBody {
  const { path, taken } = image;
  const sum = new CountSum();
  sum.add(image);
  const counts: Omit<GroupBody, 'group'> = toWireSum(sum);
  delete counts.time_sources;
  return {
    group: hide(path),
    time: taken?.time ?? null,
    time_source: taken?.source ?? 'none',
    ...counts,
  };
}

/** An event: the boxes of a class are the most that one of its images has. */
export function toWireEvent(
  { camera, first, last, sum, best }: EventRow,
  hide: HideFolders,
): GroupBody {
  return {
    group: first,
    last_time: last,
    camera: camera === null ? null : hide(camera),
    best_image: toWireName(best, hide),
    ...toWireSum(new CountSum(sum)),
  };
}
