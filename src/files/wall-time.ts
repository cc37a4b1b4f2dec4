/** Times of pictures, as the clock on the wall showed them: `2025-11-26T14:30:00`, without a zone, as cameras write them. */

/** `exif`: DateTimeOriginal. `name`: of the file. `file`: when its content was changed last. The first that is known counts. */
export const TIME_SOURCES = ['exif', 'name', 'file'] as const;
export type TimeSource = (typeof TIME_SOURCES)[number];

export interface PictureTime {
  time: string;
  source: TimeSource;
}

/** 2025-11-26_14.30.00, 20251126143000, 2025-11-26 at 14.30.00, with or without milliseconds; no part of a longer number. */
const IN_NAME =
  /(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?:[T _.-]{0,3}|[ _]at[ _])(\d\d)([-_.:]?)(\d\d)\6(\d\d)(?:\.?\d{3})?(?!\d)/gi;

/** The first time that the name of the file has, not its folders. */
export function timeInName(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (const [, year, , month, day, hour, , minute, second] of name.matchAll(IN_NAME)) {
    const time = wallTime([year, month, day, hour, minute, second].map(Number));
    if (time !== null) return time;
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

/** In the time zone of this process. */
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
