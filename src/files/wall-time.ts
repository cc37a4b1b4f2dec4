/**
 * Times of pictures, as the clock on the wall showed them: `2025-11-26T14:30:00`, without a zone, as cameras write
 * them.
 */

/**
 * `exif`: DateTimeOriginal, else DateTimeDigitized, else DateTime. `name`: of the file, with its folders. `file`: when
 * its content was changed last. The first that is known counts.
 */
export const TIME_SOURCES = ['exif', 'name', 'file'] as const;
export type TimeSource = (typeof TIME_SOURCES)[number];

export interface PictureTime {
  time: string;
  source: TimeSource;
}

const DATE = String.raw`(?<year>(?:19|20)\d\d)(?<d>[-_.]?)(?<month>\d\d)\k<d>(?<day>\d\d)`;
const BETWEEN = String.raw`(?:[T _.-]{0,3}|[ _]at[ _])`;
/** macOS has a narrow space before it. */
const HALF = String.raw`[ _.\u00a0\u202f-]{0,2}(?<half>[ap])\.?m(?![a-z\d])`;

/** Dates with times in names of files; no part of a longer number. */
const IN_NAME = [
  // 2025-11-26_14.30.00, 20251126143000, 2025-11-26 at 02.30.00 PM, with or without milliseconds.
  String.raw`(?<!\d)${DATE}${BETWEEN}(?<hour>\d\d)(?<t>[-_.:]?)(?<minute>\d\d)\k<t>(?<second>\d\d)(?:\.?\d{3})?(?!\d)(?:${HALF})?`,
  // 2025-11-26 at 2.30 PM
  String.raw`(?<!\d)${DATE}${BETWEEN}(?<hour>\d\d?)(?<t>[-_.:])(?<minute>\d\d)(?:\k<t>(?<second>\d\d))?${HALF}`,
  // 20240105T1430
  String.raw`(?<!\d)${DATE}T(?<hour>\d\d)[-_.:]?(?<minute>\d\d)(?![a-z\d]|[-_.:]\d\d)`,
].map((pattern) => new RegExp(pattern, 'gi'));

/**
 * Patterns within folders that are named by dates: a time needs separators, so that numbers of pictures are not taken
 * for times.
 */
const DATE_FOLDERS = String.raw`(?:^|/)(?:${DATE}|(?<years>(?:19|20)\d\d)/(?<months>\d\d)/(?<days>\d\d))/`;
const IN_FOLDERS = [
  // 2025-11-26/14-30-00.jpg; an address of a machine has a fourth number.
  String.raw`${DATE_FOLDERS}(?:[^/]+/)*(?<hour>\d\d)(?<t>[-_.:])(?<minute>\d\d)\k<t>(?<second>\d\d)(?!\d|\.\d|\k<t>\d\d\k<t>)[^/]*$`,
  // 2025-11-26/14/30/00.jpg, 2025-11-26/14/30-00.jpg
  String.raw`${DATE_FOLDERS}(?<hour>\d\d)/(?<minute>\d\d)[-_./](?<second>\d\d)\.\w+$`,
  // 2025-11-26/001/jpg/14/30/00[M][0@0][0].jpg
  String.raw`${DATE_FOLDERS}(?:[^/]+/)*(?<hour>\d\d)/(?<minute>\d\d)/(?<second>\d\d)\[[^/]*$`,
].map((pattern) => new RegExp(pattern, 'i'));

/** Seconds or milliseconds since 1970, not before 2010: below are the numbers that people make up. */
const UNIX = /(?<![^-_. ()@])(?<!\d\.)(1[2-9]\d{8})(\d{3})?(?=\.\d+[-_. ]|[-_. ()@]|$)/g;
const FIRST_UNIX_S = Date.UTC(2010, 0) / 1_000;
const DAY_S = 86_400;
/** A number after these words is not a time. */
const OTHER_NUMBER =
  /(?:^|[^a-z])(?:tel|phone|mobile|serial|sn|id|no|nr|order|invoice|ticket)[-_. #]*$/i;

/** A year, and a number of seconds since 1970, have four digits. */
const FOUR_DIGITS = /\d{4}/;

/** The first time that the name of the file has, else the one that it has together with its folders. */
export function timeInName(path: string): string | null {
  if (!FOUR_DIGITS.test(path)) return null;
  const name = path.slice(path.lastIndexOf('/') + 1);
  // Most names have none: `matchAll` copies the pattern, `search` does not.
  const within = IN_NAME.filter((pattern) => name.search(pattern) !== -1);
  const matches = within.flatMap((pattern) => [...name.matchAll(pattern)]);
  for (const match of [...matches, ...IN_FOLDERS.map((pattern) => pattern.exec(path))]) {
    const time = match?.groups === undefined ? null : timeOf(match.groups);
    if (time !== null) return time;
  }
  return unixTime(name);
}

function timeOf(groups: Record<string, string | undefined>): string | null {
  const { years, months, days, year = years, month = months, day = days } = groups;
  const { hour, minute, second = '0', half } = groups;
  return wallTime([year, month, day, hourOf(hour, half), minute, second].map(Number));
}

/** Letters after an hour from 13 on do not mean am or pm. */
function hourOf(text: string | undefined, half: string | undefined): number {
  const hour = Number(text);
  if (half === undefined || hour > 12) return hour;
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function unixTime(name: string): string | null {
  const stem = name.replace(/\.[a-z]\w*$/i, '');
  for (const match of stem.matchAll(UNIX)) {
    const seconds = Number(match[1]);
    const isPast = seconds >= FIRST_UNIX_S && seconds <= Date.now() / 1_000 + DAY_S;
    if (isPast && !OTHER_NUMBER.test(stem.slice(0, match.index))) {
      return wallTimeOf(new Date(seconds * 1_000));
    }
  }
  return null;
}

/** Year, month from 1, day, hour, minute and second; null for a time that no calendar has. */
export function wallTime(parts: readonly number[]): string | null {
  const [year = NaN, month = NaN, day, hour, minute, second] = parts;
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  if (Number.isNaN(at.getTime())) return null;
  const text = at.toISOString().slice(0, 19);
  const isSame = text.match(/\d+/g)?.every((each, index) => Number(each) === parts[index]);
  return isSame === true ? text : null;
}

/** The wall time in the time zone of this process. */
export function wallTimeOf(at: Date): string | null {
  return wallTime([
    at.getFullYear(),
    at.getMonth() + 1,
    at.getDate(),
    at.getHours(),
    at.getMinutes(),
    at.getSeconds(),
  ]);
}

/**
 * The time of a picture in which none is written: the one that its path names, else the last change of its file, in
 * nanoseconds as text. Null: neither is known.
 */
export function timeOfFile(path: string, modifiedNs: string | null): PictureTime | null {
  const named = timeInName(path);
  if (named !== null) return { time: named, source: 'name' };
  const time = modifiedNs === null ? null : wallTimeOf(new Date(Number(modifiedNs) / 1e6));
  return time === null ? null : { time, source: 'file' };
}
