/** Which counts are shown: read from the address, in which a link keeps them. */
import type { Query } from '../address/address.js';
import { DAY_H, dayStart, hourOf, type HourRange } from './wall-hours.js';

/** An address without one has the first. */
export const RANGES = [
  ['7d', 'Last 7 days'],
  ['24h', 'Last 24 hours'],
  ['30d', 'Last 30 days'],
  ['all', 'All times'],
  ['own', 'From ... to'],
] as const;

export const GROUPINGS = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['folder', 'Folder'],
  ['event', 'Event'],
  ['place', 'Place'],
  ['class', 'Class'],
  ['region', 'Region'],
] as const;

/** The longest time between two pictures of an event, in seconds. */
export const EVENT_GAPS = [
  ['60', '1 min'],
  ['10', '10 s'],
  ['300', '5 min'],
  ['1800', '30 min'],
] as const;

export const CAMERAS = [
  ['folder', 'Each folder'],
  ['all', 'All pictures'],
  ['name', 'By names of files'],
] as const;

const FIRST_PATTERN = '{camera}_*';

/** Vehicles that stand in one place of a camera: the names that the service takes. */
export const STANDING = [
  ['include', 'Counted'],
  ['exclude', 'Left out'],
  ['only', 'No others'],
] as const;

export const COMPARISONS = [
  ['', 'Nothing'],
  ['before', 'The time before'],
  ['own', 'From ... to'],
] as const;

export type RangeName = (typeof RANGES)[number][0];
export type CountsGrouping = (typeof GROUPINGS)[number][0];

export interface CountsChoice {
  watch: string;
  tag: string;
  range: RangeName;
  by: CountsGrouping;
  /** The longest time between two pictures of an event; null: events are not counted. */
  eventGap: (typeof EVENT_GAPS)[number][0] | null;
  standing: (typeof STANDING)[number][0];
  /** Which pictures are of one camera; null: it makes no difference. */
  camera: (typeof CAMERAS)[number][0] | null;
  /** The pattern of the names of files that tell their camera; null: they do not. */
  cameraPattern: string | null;
  /** Name of a stored view; empty: as each job asked. */
  view: string;
  /** Percent; null: as each job asked. */
  min: number | null;
  compared: (typeof COMPARISONS)[number][0];
  /** The range, and the one that it is compared with; null while it is not compared. */
  hours: HourRange;
  otherHours: HourRange | null;
}

type Names = readonly (readonly [string, string])[];

const chosen = <T extends Names>(names: T, text = ''): T[number][0] =>
  (names.find(([name]) => name === text) ?? names[0])?.[0] ?? '';

/** `now`: the hour of the reader's clock. */
export function readChoice(query: Query, now: number): CountsChoice {
  const range = chosen(RANGES, query.range);
  const compared = chosen(COMPARISONS, query.with);
  const own = ownRange(query.from, query.to);
  const by = chosen(GROUPINGS, query.by);
  const standing = chosen(STANDING, query.static);
  const isOfCameras = by === 'event' || by === 'place' || standing !== 'include';
  const camera = isOfCameras ? chosen(CAMERAS, query.camera) : null;
  return {
    watch: query.watch ?? '',
    tag: query.tag ?? '',
    range,
    by,
    eventGap: by === 'event' ? chosen(EVENT_GAPS, query.gap) : null,
    standing,
    camera,
    cameraPattern: camera === 'name' ? (query.pattern ?? FIRST_PATTERN) : null,
    view: query.view ?? '',
    min: /^\d{1,2}$|^100$/.test(query.min ?? '') ? Number(query.min) : null,
    compared,
    hours: hoursOf(range, own, now),
    otherHours:
      compared === ''
        ? null
        : compared === 'own'
          ? ownRange(query.from2, query.to2)
          : hoursBefore(range, own, now),
  };
}

/** Something is counted. */
export const isAsked = ({ watch, tag }: CountsChoice): boolean => watch !== '' || tag !== '';

/** A choice that asks the boxes anew, in place of the questions of the jobs. */
const isOtherQuestion = ({ view, min }: CountsChoice): boolean => view !== '' || min !== null;

/** Only the images of stored jobs are counted. */
export const isOfStoredJobs = (choice: CountsChoice): boolean =>
  isOtherQuestion(choice) || choice.camera !== null;

function ownRange(from = '', to = ''): HourRange {
  return { from: hourOf(from), to: hourOf(to) };
}

const LAST_DAYS: Partial<Record<RangeName, number>> = { '24h': 1, '7d': 7, '30d': 30 };

/** Up to the hour that has begun. Days begin at midnight, so that the first one is whole. */
function hoursOf(range: RangeName, own: HourRange, now: number): HourRange {
  if (range === 'own') return own;
  const days = LAST_DAYS[range];
  if (days === undefined) return { from: null, to: null };
  const from = days === 1 ? now + 1 - DAY_H : dayStart(now) - (days - 1) * DAY_H;
  return { from, to: now + 1 };
}

/** As long as the range, and at the same hours of earlier days; null where the range has no length. */
function hoursBefore(range: RangeName, own: HourRange, now: number): HourRange | null {
  const { from, to } = hoursOf(range, own, now);
  if (from === null || to === null) return null;
  const days = LAST_DAYS[range];
  const length = days === undefined ? to - from : days * DAY_H;
  return { from: from - length, to: to - length };
}

/** Why the ranges cannot be asked for. */
export function rangeFault({ hours, otherHours, compared, range }: CountsChoice): string | null {
  const isEmpty = ({ from, to }: HourRange): boolean => from !== null && to !== null && from >= to;
  if (isEmpty(hours)) return 'The range ends before it begins.';
  if (compared === 'before' && otherHours === null) {
    const what = range === 'all' ? 'All times have' : 'A range without a begin or an end has';
    return `${what} no time before: choose a range with both.`;
  }
  return otherHours !== null && isEmpty(otherHours)
    ? 'The range to compare with ends before it begins.'
    : null;
}
