/**
 * Hours as the clock on the wall showed them, without a zone, as numbers since 1970: every day has 24 of them. A range
 * is from its first hour to the hour after its last one.
 */

export const DAY_H = 24;
const HOUR_MS = 3_600_000;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Null: no bound. */
export interface HourRange {
  from: number | null;
  to: number | null;
}

/** `2025-11-26T14`, `2025-11-26T14:00` or a day -> its first hour; null for anything else. */
export function hourOf(text: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d)(?::\d\d)?)?$/.exec(text);
  if (match === null) return null;
  const [, day = '', hour = '00'] = match;
  const hours = Date.parse(`${day}T${hour}:00:00Z`) / HOUR_MS;
  // `Date` takes the 30th of February as a day of March.
  return Number.isNaN(hours) || hourKey(hours) !== `${day}T${hour}` ? null : hours;
}

/** `2025-11-26T14`, as the service takes it. */
export function hourKey(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString().slice(0, 'yyyy-mm-ddThh'.length);
}

export const dayText = (hour: number): string => hourKey(hour).slice(0, 'yyyy-mm-dd'.length);

/** `2025-11-26 14:00` */
export const hourText = (hour: number): string => `${hourKey(hour).replace('T', ' ')}:00`;

/** `26 Nov` */
export function shortDay(hour: number): string {
  const [, month = '', day = ''] = dayText(hour).split('-');
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? ''}`;
}

/** `Nov 2025` */
export const monthText = (hour: number): string =>
  `${shortDay(hour).split(' ')[1] ?? ''} ${dayText(hour).slice(0, 4)}`;

export const timeText = (hour: number): string => hourText(hour).slice(-5);

/** The hour that the clock of the reader shows. */
export function wallHour(now: Date): number {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  return Date.UTC(year, month, day, now.getHours()) / HOUR_MS;
}

export const dayStart = (hour: number): number => Math.floor(hour / DAY_H) * DAY_H;

/** The days of a range of whole days, its hours otherwise. */
export function rangeText({ from, to }: HourRange): string {
  if (from === null && to === null) return 'all times';
  const isDays = [from, to].every((hour) => hour === null || hour % DAY_H === 0);
  const text = isDays ? dayText : hourText;
  // The last day of days is in the range.
  const last = to === null ? null : text(isDays ? to - 1 : to);
  if (from === null) return `until ${last ?? ''}`;
  if (last === null) return `from ${text(from)}`;
  return text(from) === last ? last : `${text(from)} to ${last}`;
}
