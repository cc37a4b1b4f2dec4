/** Boxes as COCO has them. */
import type { Detection } from '../api/image.js';
import { rounded } from './rounded.js';

/** Corners -> left, top, width, height in pixels, to a thousandth. */
export function cocoBox([x1, y1, x2, y2]: Detection['box']): [number, number, number, number] {
  return [rounded(x1, 3), rounded(y1, 3), rounded(x2 - x1, 3), rounded(y2 - y1, 3)];
}
