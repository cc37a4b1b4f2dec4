/** Times of day at which a watch works, as people write them: `06:00-20:00`, `mon-fri@06:00-20:00,sat@08:00-12:00`. */

/** The days in the order of `Date.getDay`. */
export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
type Day = (typeof DAYS)[number];

/**
 * A time of day from `from` until before `to`, in the local time of the service. It goes past midnight if `to` is not
 * later than `from`.
 */
export interface ScheduledTime {
  from: string;
  to: string;
  /** Days on which `from` lies; null or absent: every day. */
  days?: Day[] | null | undefined;
}

const TIMES = /^(?:([a-z]{3})(?:-([a-z]{3}))?@)?(\d\d:\d\d)-(\d\d:\d\d)$/;

/** Throws a `RangeError` that says what a text has in place of times. */
export const timesOf = (text: string): ScheduledTime[] =>
  text.split(',').map((part) => timeOf(part.trim()));

function timeOf(text: string): ScheduledTime {
  const [, first, last, from, to] = TIMES.exec(text) ?? [];
  if (from === undefined || to === undefined) {
    throw new RangeError(`'${text}' is no time such as 06:00-20:00 or mon-fri@06:00-20:00.`);
  }
  return first === undefined ? { from, to } : { from, to, days: daysOf(first, last ?? first) };
}

function daysOf(first: string, last: string): Day[] {
  const begin = dayOf(first);
  const length = (dayOf(last) - begin + 7) % 7;
  return Array.from({ length: length + 1 }, (_, at) => dayAt(begin + at));
}

function dayOf(name: string): number {
  const day = (DAYS as readonly string[]).indexOf(name);
  if (day === -1) throw new RangeError(`'${name}' is none of ${DAYS.join(', ')}.`);
  return day;
}

const dayAt = (day: number): Day => DAYS[(day + 7) % 7] ?? 'sun';

/** Days that do not follow each other become a time each. */
export function timesText(times: readonly ScheduledTime[]): string {
  return times
    .flatMap(({ from, to, days }) =>
      days ? runsOf(days).map((run) => `${run}@${from}-${to}`) : [`${from}-${to}`],
    )
    .join(', ');
}

function runsOf(days: readonly Day[]): string[] {
  const has = (day: number) => days.includes(dayAt(day));
  const all = DAYS.map((_, day) => day);
  const begins = all.filter((day) => has(day) && !has(day - 1));
  // All seven: no day begins a run.
  return (begins.length === 0 ? [1] : begins).map((begin) => {
    let end = begin;
    while (end - begin < DAYS.length - 1 && has(end + 1)) end += 1;
    return end === begin ? dayAt(begin) : `${dayAt(begin)}-${dayAt(end)}`;
  });
}
