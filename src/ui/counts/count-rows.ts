/** Counts as rows, which the chart, the table and the CSV file share. */
import type { Counts } from '../../client/records.js';
import type { CountsGrouping } from './counts-choice.js';
import type { CountGroup, CountSum, ShownCounts } from './counts-request.js';
import { DAY_H, dayStart, dayText, hourOf, hourText, type HourRange } from './wall-hours.js';

/** Hours of 31 days; more of them are no chart that can be read. */
export const MOST_SLOTS = 31 * DAY_H;
/** Ten years: of a longer range only the part that has images is shown. */
const MOST_HOURS = 3_653 * DAY_H;

export type ClassSums = Readonly<Record<string, number>>;

export interface CountRow {
  name: string;
  /** The first hour; null where the row is no time. */
  start: number | null;
  /** Null: no image was taken then, which is not the same as images without boxes. */
  classes: ClassSums | null;
  /** Null for a class or a region, which no image belongs to. */
  images: Pick<CountSum, 'images' | 'failed_images' | 'empty_images'> | null;
}

export interface CountRows {
  /** Days stand in the place of hours where there are too many. */
  by: CountsGrouping;
  rows: CountRow[];
  /** Images without a time, of a range without bounds. */
  untimed: CountRow | null;
}

/** The rows of both ranges, in the same steps of time. Classes that are switched off have no row. */
export function rowsOf(
  { choice, counts, other }: ShownCounts,
  hidden: ReadonlySet<string>,
): { rows: CountRows; others: CountRows | null } {
  const { hours, otherHours, by } = choice;
  const rows = countRows(counts, by, hours);
  if (other === null || otherHours === null)
    return { rows: withoutClasses(rows, hidden), others: null };
  const others = countRows(other, rows.by, otherHours);
  return {
    rows: withoutClasses(countRows(counts, others.by, hours), hidden),
    others: withoutClasses(others, hidden),
  };
}

function withoutClasses(rows: CountRows, hidden: ReadonlySet<string>): CountRows {
  if (rows.by !== 'class') return rows;
  return { ...rows, rows: rows.rows.filter(({ name }) => !hidden.has(name)) };
}

/** Rows and what they are of, for the parts that show them. */
export interface ShownRows {
  shown: ShownCounts;
  rows: CountRows;
  /** Null where nothing is compared. */
  others: CountRows | null;
  /** Classes that are switched off. */
  hidden: ReadonlySet<string>;
}

export function countRows(counts: Counts, by: CountRows['by'], hours: HourRange): CountRows {
  switch (by) {
    case 'hour':
    case 'day':
      return timeRows(counts.groups, by, hours);
    case 'folder':
      return {
        by,
        rows: counts.groups.map((group) => rowOf(group, group.group ?? '')),
        untimed: null,
      };
    // Events and places are shown as pictures, not as rows.
    case 'event':
    case 'place':
      return { by, rows: [], untimed: null };
    case 'class':
      return listRows(by, counts.total.class_counts, (boxes, name) => ({ [name]: boxes }));
    case 'region':
      return listRows(by, counts.total.region_counts ?? {}, (classes) => classes);
  }
}

function listRows<V>(
  by: 'class' | 'region',
  values: Readonly<Record<string, V>>,
  classesOf: (value: V, name: string) => ClassSums,
): CountRows {
  const rows = Object.entries(values).map(([name, value]) => ({
    name,
    start: null,
    classes: classesOf(value, name),
    images: null,
  }));
  return { by, rows, untimed: null };
}

function rowOf(group: CountGroup, name: string, start: number | null = null): CountRow {
  return { name, start, classes: group.class_counts, images: group };
}

/** A row for every hour or day of the range, also for those without an image. */
function timeRows(groups: readonly CountGroup[], by: 'hour' | 'day', hours: HourRange): CountRows {
  const untimed = groups.find(({ group }) => group === null);
  const starts = new Map(
    groups.flatMap((each) => startOf(each) ?? []).map(([at, group]) => [at, group]),
  );
  const { from, to } = boundsOf([...starts.keys()], by === 'hour' ? 1 : DAY_H, hours);
  const isHours = by === 'hour' && to - from <= MOST_SLOTS;
  const step = isHours ? 1 : DAY_H;
  const slots = isHours ? starts : daysOf(starts);
  const first = isHours ? from : dayStart(from);
  const count = Math.ceil((to - first) / step);
  const text = isHours ? hourText : dayText;
  return {
    by: isHours ? 'hour' : 'day',
    rows: Array.from({ length: count }, (_, at) => {
      const start = first + at * step;
      const group = slots.get(start);
      return group === undefined
        ? { name: text(start), start, classes: null, images: null }
        : rowOf(group, text(start), start);
    }),
    untimed: untimed === undefined ? null : rowOf(untimed, 'no time'),
  };
}

/** From the first hour to the last one: the range, or the images where it has no bound, or is very long. */
function boundsOf(
  known: readonly number[],
  step: number,
  hours: HourRange,
): { from: number; to: number } {
  const own = { from: Math.min(...known), to: Math.max(...known) + step };
  const { from, to } = { from: hours.from ?? own.from, to: hours.to ?? own.to };
  if (to - from <= MOST_HOURS) return { from, to: Math.max(from, to) };
  return known.length === 0
    ? { from: 0, to: 0 }
    : { from: Math.max(from, own.from), to: Math.min(to, own.to) };
}

function startOf(group: CountGroup): [number, CountGroup][] | null {
  const start = hourOf(group.group ?? '');
  return start === null ? null : [[start, group]];
}

/** Hours added up to days. */
export function daysOf(hours: ReadonlyMap<number, CountGroup>): Map<number, CountGroup> {
  const days = new Map<number, CountGroup>();
  for (const [hour, group] of hours) {
    const day = dayStart(hour);
    const before = days.get(day);
    days.set(day, before === undefined ? group : sumOf(before, group));
  }
  return days;
}

function sumOf(one: CountGroup, other: CountGroup): CountGroup {
  const classes = { ...one.class_counts };
  for (const [name, boxes] of Object.entries(other.class_counts)) {
    classes[name] = (classes[name] ?? 0) + boxes;
  }
  return {
    ...one,
    images: one.images + other.images,
    failed_images: one.failed_images + other.failed_images,
    empty_images: one.empty_images + other.empty_images,
    detections: one.detections + other.detections,
    class_counts: classes,
  };
}

/** Boxes of the classes that are not switched off. */
export function boxesOf(classes: ClassSums, hidden: ReadonlySet<string>): number {
  return Object.entries(classes).reduce(
    (sum, [name, boxes]) => (hidden.has(name) ? sum : sum + boxes),
    0,
  );
}

/** Boxes of a row; null where it has no images. */
export const rowBoxes = (row: CountRow | null, hidden: ReadonlySet<string>): number | null =>
  row?.classes ? boxesOf(row.classes, hidden) : null;

export interface RowPair {
  row: CountRow | null;
  other: CountRow | null;
}

/** Times are paired by their place in the ranges, names by the name. */
export function pairsOf(rows: readonly CountRow[], others: readonly CountRow[]): RowPair[] {
  const isTimed = [...rows, ...others].some(({ start }) => start !== null);
  if (isTimed) {
    return Array.from({ length: Math.max(rows.length, others.length) }, (_, at) => ({
      row: rows[at] ?? null,
      other: others[at] ?? null,
    }));
  }
  const byName = new Map(others.map((other) => [other.name, other]));
  const names = new Set(rows.map(({ name }) => name));
  return [
    ...rows.map((row) => ({ row, other: byName.get(row.name) ?? null })),
    ...others.filter(({ name }) => !names.has(name)).map((other) => ({ row: null, other })),
  ];
}

/** Classes of all that is shown, most boxes first. */
export function classesOf({ counts, other }: ShownCounts): { name: string; boxes: number }[] {
  const sums = new Map<string, number>();
  for (const { total } of [counts, ...(other ? [other] : [])]) {
    for (const [name, boxes] of Object.entries(total.class_counts)) {
      sums.set(name, (sums.get(name) ?? 0) + boxes);
    }
  }
  return [...sums]
    .map(([name, boxes]) => ({ name, boxes }))
    .sort((a, b) => b.boxes - a.boxes || (a.name < b.name ? -1 : 1));
}

/** Runs of rows without images. */
export function gapsOf(rows: readonly CountRow[]): { from: number; to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  rows.forEach(({ classes }, at) => {
    if (classes !== null) return;
    const last = gaps.at(-1);
    if (last?.to === at) last.to = at + 1;
    else gaps.push({ from: at, to: at + 1 });
  });
  return gaps;
}
