/** Answers with counts in groups, as JSON or CSV, made in pieces. */
import { z } from '@hono/zod-openapi';
import { cell } from '../../../export/csv.js';
import type { CsvFile } from '../../answer/csv.js';
import {
  CAMERAS,
  EVENT_GAP_S,
  STATIC_CHOICES,
  type Grouping,
  type HourGrouping,
} from '../../../api/job-values.js';
import { byCodeUnits } from '../../../files/listing/find-images.js';
import { CountSum, SumsByHour, type HourRow } from '../../../store/count-sum.js';
import type { EventRow, EventRule } from '../../../store/cameras/event-rows.js';
import type { HideFolders } from '../../../answers/shown-problem.js';
import { groupsOf, sorted } from '../../../answers/sum-groups.js';
import type { PictureRule } from '../../../store/cameras/camera-pictures.js';
import { validationFailed } from '../../request/validation.js';
import { cameraPatternSchema } from './camera-pattern-schema.js';
import { COUNTED_SOURCES, toWireEvent, toWireGroup, type GroupBody } from './count-groups.js';

/** Groups per piece of an answer. */
const GROUPS_PER_PIECE = 500;

/** Parameters of every route that counts. */
export const groupingSchema = <T extends Grouping>(groupings: readonly T[]) =>
  z
    .enum(groupings, { error: `by is one of ${groupings.join(', ')}.` })
    .default('hour' as T)
    .openapi({ default: 'hour' });

/** The end of a sentence about images. */
const ONE_CAMERA =
  'are of one camera when they lie in one `folder`, or `all` are, or when their folder and `name` say so by `camera_pattern`.';

export const cameraShape = {
  camera: z
    .enum(CAMERAS, { error: `camera is one of ${CAMERAS.join(', ')}.` })
    .optional()
    .openapi({ description: `Images ${ONE_CAMERA} Default ${CAMERAS[0]}` }),
  camera_pattern: cameraPatternSchema.optional(),
};

/** Throws `validation_failed`. */
export function cameraRule({
  camera = CAMERAS[0],
  camera_pattern: pattern,
}: z.output<z.ZodObject<typeof cameraShape>>): PictureRule['camera'] {
  if (camera === 'name') {
    if (pattern !== undefined) return { pattern };
    throw validationFailed([{ detail: 'camera=name needs camera_pattern.' }]);
  }
  if (pattern === undefined) return camera;
  throw validationFailed([{ detail: 'camera_pattern needs camera=name.' }]);
}

export const pictureShape = {
  event_gap_s: z.coerce
    .number({ error: `event_gap_s is a number of seconds up to ${EVENT_GAP_S.most}.` })
    .min(0)
    .max(EVENT_GAP_S.most)
    .optional()
    .openapi({
      type: 'number',
      description: `With \`by=event\`: images of one camera with at most so many seconds between them are one event. Default ${EVENT_GAP_S.default}`,
    }),
  ...cameraShape,
  camera: cameraShape.camera.openapi({
    description: `With \`by=event\` or \`static\`: images ${ONE_CAMERA} Default ${CAMERAS[0]}`,
  }),
  static: z
    .enum(STATIC_CHOICES, { error: `static is one of ${STATIC_CHOICES.join(', ')}.` })
    .optional()
    .openapi({
      description: `Boxes of vehicles that stand: in one place of a camera in several images, over minutes. \`exclude\`: they are not counted; \`only\`: no others are. Default ${STATIC_CHOICES[0]}`,
    }),
};

type PictureQuery = z.output<z.ZodObject<typeof pictureShape>>;

/** A sentence for the description of a route that counts by event. */
export const EVENTS =
  'With `by=event` images of one camera that follow each other within `event_gap_s` are one event, which has the ' +
  'largest count of each class that one of its images has: a vehicle in several of them counts once.';

/** A sentence for the description of a route that counts boxes. */
export const DISMISSED =
  'Boxes over a dismissed place are left out, but for `by=image` and the counts of removed results.';

/** Which pictures belong together, and which of their boxes are counted. Throws `validation_failed`. */
export function pictureRule({
  by,
  event_gap_s: gapS,
  static: choice = STATIC_CHOICES[0],
  ...cameras
}: PictureQuery & { by: Grouping }): EventRule {
  if (by !== 'event' && gapS !== undefined) {
    throw validationFailed([{ detail: 'event_gap_s needs by=event.' }]);
  }
  const camera = cameraRule(cameras);
  if (by !== 'event' && choice === 'include' && cameras.camera !== undefined) {
    throw validationFailed([{ detail: 'camera needs by=event, static=exclude or static=only.' }]);
  }
  return { gapS: gapS ?? EVENT_GAP_S.default, camera, static: choice };
}

export interface CountText {
  by: Grouping;
  total: CountSum;
  /** The groups of the images of `total`. */
  groups: () => AsyncIterable<GroupBody[]>;
}

interface OwnColumns {
  header: string[];
  /** Behind the name of the group. */
  cells: (group: GroupBody) => Text[];
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the images, which are read
async function* inParts<T>(
  rows: readonly T[],
  toGroup: (row: T) => GroupBody,
): AsyncGenerator<GroupBody[], void> {
  for (let at = 0; at < rows.length; at += GROUPS_PER_PIECE) {
    yield rows.slice(at, at + GROUPS_PER_PIECE).map(toGroup);
  }
}

export function sumText(
  by: HourGrouping,
  { total, sums }: { total: CountSum; sums: readonly HourRow[] },
  hide: HideFolders,
): CountText {
  if (by === 'folder_hour') return folderHourText(total, sums, hide);
  const rows = groupsOf(sums, by, hide);
  return { by, total, groups: () => inParts(rows, (row) => toWireGroup(...row)) };
}

/** A group for each hour of each folder, in the order of the folders; its `time` is the hour. */
function folderHourText(total: CountSum, sums: readonly HourRow[], hide: HideFolders): CountText {
  const merged = new SumsByHour();
  for (const { folder, hour, sum } of sums) merged.of(hide(folder), hour).merge(sum);
  const rows = merged
    .rows()
    .sort((a, b) => byCodeUnits(a.folder, b.folder) || byCodeUnits(a.hour, b.hour));
  const toGroup = ({ folder, hour, sum }: HourRow): GroupBody => ({
    ...toWireGroup(folder, new CountSum(sum)),
    time: hour === '' ? null : `${hour}:00`,
  });
  return { by: 'folder_hour', total, groups: () => inParts(rows, toGroup) };
}

/** Its total has the sums of the events. */
export function eventText(
  { events }: { events: readonly EventRow[] },
  hide: HideFolders,
): CountText {
  const total = new CountSum();
  for (const { sum } of events) total.merge(sum);
  const groups = () => inParts(events, (event) => toWireEvent(event, hide));
  return { by: 'event', total, groups };
}

/** `head` with its groups as the last member. */
export async function* jsonText(
  head: object,
  groups: AsyncIterable<GroupBody[]>,
): AsyncGenerator<string, void> {
  let text = `${JSON.stringify(head).slice(0, -1)},"groups":[`;
  let separator = '';
  for await (const part of groups) {
    for (const group of part) {
      text += `${separator}${JSON.stringify(group)}`;
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `${text}]}`;
}

/** A file that is named after what is counted. */
export const countsFile = (counts: CountText, name: string): CsvFile => ({
  name: `${name}.counts-by-${counts.by}.csv`,
  lines: csvText(counts),
});

type Text = string | null | undefined;

/** The first columns of groups that have more than their name: the name is that of the first one. */
const OWN_COLUMNS: Partial<Record<Grouping, OwnColumns>> = {
  image: {
    header: ['image', 'time', 'time_source'],
    cells: ({ time, time_source: source }) => [time, source],
  },
  event: {
    header: ['event', 'last_time', 'camera', 'best_image'],
    cells: ({ last_time: last, camera, best_image: best }) => [last, camera, best?.image_path],
  },
  folder_hour: { header: ['folder', 'hour'], cells: ({ time }) => [time] },
};

/** Columns of classes and regions are those of all groups, by name. */
async function* csvText({ by, total, groups }: CountText): AsyncGenerator<string, void> {
  const classes = sorted(total.classes).map(([name]) => name);
  const regions = sorted(total.regions).flatMap(([region, sums]) =>
    sorted(sums).map(([name]) => [region, name] as const),
  );
  const { header: own, cells: ownCells } = OWN_COLUMNS[by] ?? { header: [by], cells: () => [] };
  const hasSources = by !== 'image';
  const header = [
    ...own,
    ...['images', 'failed_images', 'empty_images', 'detections'],
    ...(hasSources ? COUNTED_SOURCES.map((source) => `time_sources.${source}`) : []),
    ...classes.map((name) => `class_counts.${name}`),
    ...regions.map(([region, name]) => `region_counts.${region}.${name}`),
  ];
  const line = (group: GroupBody): string => {
    const cells = [
      ...[group.group, ...ownCells(group)].map((text) => cell(text ?? '')),
      ...[group.images, group.failed_images, group.empty_images, group.detections],
      ...(hasSources ? COUNTED_SOURCES.map((each) => group.time_sources?.[each] ?? 0) : []),
      ...classes.map((name) => group.class_counts[name] ?? 0),
      ...regions.map(([region, name]) => group.region_counts?.[region]?.[name] ?? 0),
    ];
    return `${cells.join(',')}\r\n`;
  };
  let text = `${header.map(cell).join(',')}\r\n`;
  for await (const part of groups()) {
    yield text + part.map(line).join('');
    text = '';
  }
  if (text !== '') yield text;
}
