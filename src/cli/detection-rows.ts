/** Rows of a table of boxes: an image on its first box's line. */
import type { Problem } from '../api/errors.js';

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
