/** The axes of a chart of counts: round numbers of boxes, and readable times. */
import { DAY_H, monthText, shortDay, timeText } from './wall-hours.js';

const MOST_STEPS = 4;
/** Labels that a chart has room for; a phone shows each second one. */
const MOST_LABELS = 8;
const STEPS_H = [1, 2, 3, 6, 12, DAY_H, 2 * DAY_H, 7 * DAY_H, 14 * DAY_H, 30 * DAY_H, 91 * DAY_H];
const YEAR_H = 365 * DAY_H;

/** Whole numbers from 0 to one that is not below `most`, with steps of 1, 2 or 5 times a power of ten. */
export function boxTicks(most: number): number[] {
  const wanted = Math.max(1, most) / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(1, ([1, 2, 5, 10].find((each) => each * power >= wanted) ?? 10) * power);
  const count = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

export interface TimeTick {
  hour: number;
  text: string;
}

/** Times at even distances from one hour to another. */
export function timeTicks(from: number, to: number): TimeTick[] {
  const length = to - from;
  const step = STEPS_H.find((each) => length / each <= MOST_LABELS) ?? yearsOf(length);
  const first = Math.ceil(from / Math.min(step, DAY_H)) * Math.min(step, DAY_H);
  const count = Math.max(0, Math.ceil((to - first) / step));
  return Array.from({ length: count }, (_, at) => first + at * step).map((hour) => ({
    hour,
    text: textOf(hour, step),
  }));
}

const yearsOf = (length: number): number => Math.ceil(length / MOST_LABELS / YEAR_H) * YEAR_H;

function textOf(hour: number, step: number): string {
  if (step >= 30 * DAY_H) return monthText(hour);
  return hour % DAY_H === 0 ? shortDay(hour) : timeText(hour);
}
