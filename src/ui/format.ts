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

function dayOf(at: Date): string {
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

export function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}

/** Two digits of percent: detections are told apart by them. */
export function score(confidence: number): string {
  return `${(confidence * 100).toFixed(1)} %`;
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
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

/** `{car: 4, truck: 1}` -> `4 car, 1 truck`, most first; `none` for nothing. */
export function classCounts(counts: Record<string, number>): string {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${count} ${visible(name)}`).join(', ') || 'none';
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
