/** Values as people read them. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}

/** Seconds -> `0.05 s`, `12.3 s`, `3 min 5 s`, `2 h 3 min`. */
export function duration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < MINUTE) return `${s.toFixed(s < 1 ? 2 : 1)} s`;
  const whole = Math.round(s);
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${whole % MINUTE} s`;
  return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
}

/** Unix seconds -> the time of day, with the date where it is not that of `now`; in the reader's time zone. */
export function clock(unix: number, now: number): string {
  const at = new Date(unix * 1000);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':');
  const day = dayOf(at);
  return day === dayOf(new Date(now * 1000)) ? time : `${day} ${time}`;
}

/** Like `clock`, without seconds. */
export function minute(unix: number, now: number): string {
  return clock(unix, now).slice(0, -3);
}

function dayOf(at: Date): string {
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}

/** Three digits of it: `99.6 %`. */
export function exactPercent(fraction: number): string {
  return `${significant(fraction * 100)} %`;
}

/** Control characters, and those that turn the order of the letters around them. */
const HIDDEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Text of others with its hidden characters spelled out: `a\u202egpj.exe` does not look like `aexe.jpg`. */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (hidden) => `\\u${(hidden.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Digits in groups of three, as they are read. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** `1 image`, `2,000 images`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Seconds that have passed -> `just now`, `12 s ago`, `3 min ago`, `2 h ago`, `4 days ago`. */
export function ago(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 5) return 'just now';
  if (s < MINUTE) return `${Math.floor(s)} s ago`;
  if (s < HOUR) return `${Math.floor(s / MINUTE)} min ago`;
  if (s < 24 * HOUR) return `${Math.floor(s / HOUR)} h ago`;
  return `${plural(Math.floor(s / (24 * HOUR)), 'day')} ago`;
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number and its unit apart: the unit may be smaller. */
export interface Amount {
  text: string;
  unit: string;
}

export function bytes(value: number): Amount {
  const step = Math.min(
    Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)),
    BYTE_UNITS.length - 1,
  );
  return { text: significant(value / 2 ** (10 * step)), unit: BYTE_UNITS[step] ?? 'B' };
}

export function seconds(value: number): Amount {
  return value < 1
    ? { text: significant(value * 1000), unit: 'ms' }
    : { text: significant(value), unit: 's' };
}

/** Three digits are enough to read: `0.12`, `3.46`, `34.6`, `346`, `3,460`. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || size >= 100) return grouped(value);
  const digits = size >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\.0+$/, '');
}

/** The last name of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
