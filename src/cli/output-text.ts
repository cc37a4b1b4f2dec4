/** Output of commands for people: tables, boxes, failures, sizes. */
import type { Problem } from '../api/errors.js';

/** Control characters, separators of lines, and characters that turn the direction of the text. */
const UNFIT = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SHORT = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/**
 * Returns one line in which a name, or a text from another machine, cannot act on the terminal: `\u001b` stands for the
 * escape character.
 */
export function printable(text: string): string {
  return text.replace(
    UNFIT,
    (char) => SHORT.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The same of a text of several lines. JSON stays the same JSON. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Columns padded to their widest cell, two spaces apart; no trailing spaces. */
export function renderTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, printable(cell).length);
    });
  }
  return rows.map((row) => renderRow(row, widths));
}

/** A line of a table whose other rows are not known yet; `widths` are those of printable texts. */
export function renderRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => printable(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

export const DETECTION_HEADER = ['IMAGE', 'CLASS', 'CONFIDENCE', 'BOX (x1 y1 x2 y2)'];

interface Box {
  box: readonly number[];
  confidence: number;
  class: string;
}

export function detectionRows(image: string, detections: readonly Box[]): string[][] {
  if (detections.length === 0) return [[image, '-', '', '']];
  return detections.map(({ class: name, confidence, box }, index) => {
    const corners = box.map((side) => side.toFixed(1)).join('  ');
    return [index === 0 ? image : '', name, confidence.toFixed(3), corners];
  });
}

export function failedRow(
  image: string,
  { code, detail }: Pick<Problem, 'code' | 'detail'>,
): string[] {
  return [image, `failed: ${code}`, '', detail];
}

const LINES = 10;

export interface FailedImage {
  path: string;
  error: Pick<Problem, 'code' | 'detail'>;
}

/** A line per image, `path: reason`; of many the first ten, and how many more there are of all `count`. */
export function failureLines(failed: readonly FailedImage[], count = failed.length): string[] {
  const lines = failed
    .slice(0, LINES)
    .map(({ path, error }) => printable(`  ${path}: ${error.detail} (${error.code})`));
  return count > LINES ? [...lines, `  and ${count - LINES} more`] : lines;
}

/** Sizes of files as the commands show them: a megabyte is 10^6 bytes, as disks are sold and `modelMemoryMb` counts. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `car 12, bus 3`; '' without boxes. */
export function classesText(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([one, more], [other, fewer]) => fewer - more || (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

const SHOWN_CLASSES = 5;

export function shorten(classes: readonly string[]): string {
  if (classes.length === 0) return 'unknown';
  const more = classes.length - SHOWN_CLASSES;
  return classes.slice(0, SHOWN_CLASSES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
