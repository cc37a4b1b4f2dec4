/** What commands print for people: tables, boxes, failures, sizes. */
import type { Problem } from '../api/errors.js';

/** Columns padded to their widest cell, two spaces apart; no trailing spaces. */
export function renderTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return rows.map((row) => renderRow(row, widths));
}

/** A line of a table whose other rows are not known yet. */
export function renderRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
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

/** A line per image, `path: reason`; of many the first ten, and how many more there are. */
export function failureLines(failed: readonly FailedImage[]): string[] {
  const lines = failed
    .slice(0, LINES)
    .map(({ path, error }) => `  ${path}: ${error.detail} (${error.code})`);
  return failed.length > LINES ? [...lines, `  and ${failed.length - LINES} more`] : lines;
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
