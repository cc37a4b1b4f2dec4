/** Why images failed, for people. */
import type { Problem } from '../api/errors.js';

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
