/** Sizes of boxes, as COCO tells them apart: by the side, in pixels, of a square of the same area. */
import type { Box } from './overlap.js';

export const BOX_SIZES: readonly [name: string, least: number, most: number][] = [
  ['below 32 px', 0, 32],
  ['32 to 96 px', 32, 96],
  ['from 96 px', 96, Infinity],
];

export function sideOf([left, top, right, bottom]: Box): number {
  return Math.sqrt((right - left) * (bottom - top));
}
