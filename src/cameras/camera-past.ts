/**
 * The usual values of one camera, learnt from its own pictures: by hour of the day, by hour of the week, and its view.
 * Plain data of bounded size, about 25 kB as JSON; hours are those of UTC.
 */
import type { PictureLook } from '../api/schemas/image.js';
import {
  differenceOf,
  edgesOf,
  inEvenLight,
  LEAST_SPREAD,
  levelsOf,
  likenessOf,
  LOOK_CELLS,
} from './picture-look.js';

/** How many values were learnt, their running mean, and the running mean of how far they lie from it. */
export type Usual = readonly [count: number, level: number, deviation: number];

/** Values of a picture; all but the likeness are natural logarithms. */
const MEASURES = ['brightness', 'spread', 'sharpness', 'likeness', 'change'] as const;
export type Measure = (typeof MEASURES)[number];
/** Null: the picture has no such value. */
export type Measures = Record<'brightness' | 'spread', number> & Record<Measure, number | null>;

export type HourOfDay = Record<Measure | 'confidence', Usual>;

/** A picture in even light, of which every level is a running median; base64. */
export interface UsualView {
  count: number;
  grey: string;
}

export interface CameraPast {
  /** 24, by hour of the day. */
  hours: HourOfDay[];
  /** 8, by three hours of the day: shadows and lamps have their times. */
  views: UsualView[];
  /** 168, by hour of the week: square roots of the boxes of a picture. */
  counts: Usual[];
  /** How far those of an hour lie from the usual ones of its hour of the week. */
  scatter: Usual;
  /** The seconds between the last pictures, oldest first. */
  gaps: number[];
  /** The longest of them by day, for the last days that had pictures. */
  longest: { day: number; gap: number }[];
}

const NOTHING: Usual = [0, 0, 0];
const NO_VIEW: UsualView = { count: 0, grey: '' };
const HOURS_PER_VIEW = 3;
const HOURS_PER_WEEK = 7 * 24;
const HOUR = 3_600;
const DAY = 24 * HOUR;

export const emptyPast = (): CameraPast => ({
  ...emptyScene(),
  ...emptyCounts(),
  gaps: [],
  longest: [],
});

/** The part of a past that a moved camera begins anew. */
export const emptyScene = (): Pick<CameraPast, 'hours' | 'views'> => ({
  hours: Array.from({ length: 24 }, () => ({
    brightness: NOTHING,
    spread: NOTHING,
    sharpness: NOTHING,
    likeness: NOTHING,
    change: NOTHING,
    confidence: NOTHING,
  })),
  views: Array.from({ length: 24 / HOURS_PER_VIEW }, () => NO_VIEW),
});

export const emptyCounts = (): Pick<CameraPast, 'counts' | 'scatter'> => ({
  counts: Array.from({ length: HOURS_PER_WEEK }, () => NOTHING),
  scatter: NOTHING,
});

/** The past that learns one value of all hours anew. */
export const withoutValue = (past: CameraPast, name: keyof HourOfDay): CameraPast => ({
  ...past,
  hours: past.hours.map((row) => ({ ...row, [name]: NOTHING })),
});

/** Hours since 1970; hours of the day and of the week follow from it. */
export const hourOf = (time: number): number => Math.floor(time / HOUR);

/** The latest values count, at most so many; a week of an hour of the day with a picture every ten minutes. */
const LATEST = 42;
/** Residuals count up to so many deviations, so that one picture moves little. */
const MOST_DEVIATIONS = 5;
const FEW = 6;

export function learn([count, level, deviation]: Usual, value: number, latest = LATEST): Usual {
  const weight = Math.max(1 / (count + 1), 1 / latest);
  const most = Math.max(MOST_DEVIATIONS * deviation, 0.1 * Math.abs(level), 0.05);
  const far = value - level;
  const residual = count < FEW ? far : Math.sign(far) * Math.min(most, Math.abs(far));
  const share = count === 0 ? 0 : weight;
  return [
    Math.min(count + 1, 9_999),
    short(level + weight * residual),
    short(deviation + share * (Math.abs(residual) - deviation)),
  ];
}

/** How far from the usual level a value may lie: wider while few values were learnt. */
export const rangeOf = ([count, , deviation]: Usual, deviations: number): number =>
  deviations * deviation * (1 + FEW / Math.max(1, count));

const short = (value: number): number => Number(value.toFixed(4));

/** Levels; smaller differences and spreads count as this one, so that they have a logarithm. */
const LEAST_CHANGE = 0.02;
/** Views are compared once they are of so many pictures. */
const LEAST_OF_VIEW = 18;

/** Measures a look against the past; `before` is the grey of the picture before, as text. */
export function measure(
  { views }: CameraPast,
  { grey, sharpness }: PictureLook,
  before: string | null,
): Measures {
  const { brightness, spread } = levelsOf(grey);
  const isScene = spread >= LEAST_SPREAD;
  const known = isScene ? views.filter(({ count }) => count >= LEAST_OF_VIEW) : [];
  const edges = edgesOf(inEvenLight(grey));
  const alike = known.map((view) => likenessOf(edges, edgesOf(fromText(view.grey))));
  const change = before === null ? null : differenceOf(grey, fromText(before));
  return {
    brightness: Math.log(Math.max(brightness, 1)),
    spread: Math.log(Math.max(spread, LEAST_CHANGE)),
    sharpness: spread >= 2 * LEAST_SPREAD && sharpness > 0 ? Math.log(sharpness) : null,
    likeness: alike.length === 0 ? null : Math.max(...alike),
    change: change === null ? null : Math.log(Math.max(change, LEAST_CHANGE)),
  };
}

/** The past with one picture more. */
export function withLook(
  past: CameraPast,
  time: number,
  { grey }: PictureLook,
  measures: Measures,
): CameraPast {
  const hour = hourOf(time) % 24;
  const row = { ...hourRow(past, hour) };
  for (const name of MEASURES) {
    const value = measures[name];
    if (value !== null) row[name] = learn(row[name], value);
  }
  const hours = past.hours.with(hour, row);
  if (levelsOf(grey).spread < LEAST_SPREAD) return { ...past, hours };
  const at = Math.floor(hour / HOURS_PER_VIEW);
  const view = past.views[at] ?? NO_VIEW;
  return { ...past, hours, views: past.views.with(at, withPicture(view, inEvenLight(grey))) };
}

/** Levels by which a running median follows: many at first. */
const FIRST_STEP = 96;

function withPicture({ count, grey }: UsualView, even: Uint8Array): UsualView {
  if (count === 0) return { count: 1, grey: toText(even) };
  const step = Math.max(1, Math.round(FIRST_STEP / (count + 1)));
  const median = fromText(grey);
  for (let cell = 0; cell < LOOK_CELLS; cell += 1) {
    const level = median[cell] ?? 0;
    median[cell] = level + Math.max(-step, Math.min(step, (even[cell] ?? 0) - level));
  }
  return { count: Math.min(count + 1, 9_999), grey: toText(median) };
}

/** `hour` counts from any midnight. */
export function hourRow({ hours }: CameraPast, hour: number): HourOfDay {
  const row = hours[hour % 24];
  if (row === undefined) throw new RangeError(`There is no hour ${hour}.`);
  return row;
}

/** Sums over the pictures of an hour. */
export interface HourOfBoxes {
  /** Since 1970. */
  hour: number;
  pictures: number;
  boxes: number;
  /** Sum of the mean confidences of the pictures that have boxes. */
  confidence: number;
  /** Pictures that have boxes. */
  confident: number;
}

export const countsOf = ({ counts }: CameraPast, hour: number): Usual =>
  counts[hour % HOURS_PER_WEEK] ?? NOTHING;

/** Values of an hour of the week that count. */
const LATEST_WEEKS = 6;

/** The past with one hour more. */
export function withHour(past: CameraPast, found: HourOfBoxes): CameraPast {
  const { hour, pictures, boxes, confidence, confident } = found;
  const row = hourRow(past, hour);
  const root = Math.sqrt(boxes / pictures);
  const usual = countsOf(past, hour);
  const far = Math.abs(root - usual[1]);
  const ofDay =
    confident > 0 ? { ...row, confidence: learn(row.confidence, confidence / confident) } : row;
  return {
    ...past,
    hours: past.hours.with(hour % 24, ofDay),
    counts: past.counts.with(hour % HOURS_PER_WEEK, learn(usual, root, LATEST_WEEKS)),
    scatter: usual[0] > 0 ? learn(past.scatter, far, HOURS_PER_WEEK) : past.scatter,
  };
}

const MOST_GAPS = 31;
const MOST_DAYS = 14;

export function withGap(past: CameraPast, time: number, gap: number): CameraPast {
  const day = Math.floor(time / DAY);
  const last = past.longest.at(-1);
  const longest =
    last?.day === day
      ? past.longest.with(-1, { day, gap: Math.max(last.gap, gap) })
      : [...past.longest, { day, gap }].slice(-MOST_DAYS);
  return { ...past, gaps: [...past.gaps, gap].slice(-MOST_GAPS), longest };
}

/** The usual seconds between pictures, and a gap that has been usual: the second longest of the last days. */
export function usualGaps({ gaps, longest }: CameraPast): { median: number; rest: number } {
  const sorted = gaps.toSorted((a, b) => a - b);
  const byDay = longest.map(({ gap }) => gap).sort((a, b) => b - a);
  return { median: sorted[sorted.length >> 1] ?? 0, rest: byDay[1] ?? byDay[0] ?? 0 };
}

export const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
export const fromText = (text: string): Uint8Array => Buffer.from(text, 'base64');
