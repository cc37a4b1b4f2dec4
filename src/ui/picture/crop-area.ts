import type { Detection, ImageSize } from './shown-boxes.js';

/** Width of a tile, divided by its height. */
const RATIO = 4 / 3;
/** A box is shown with this much around it, as a share of its own length. */
const AROUND = 0.3;

/** The part of the picture around the box, in whole pixels and in the form of a tile: `x1, y1, x2, y2`. */
export function cropArea([x1, y1, x2, y2]: Detection['box'], size: ImageSize): Detection['box'] {
  const [wide, high] = [(x2 - x1) * (1 + AROUND), (y2 - y1) * (1 + AROUND)];
  const width = Math.max(8, Math.min(size.width, Math.max(wide, high * RATIO)));
  const height = Math.max(6, Math.min(size.height, Math.max(high, wide / RATIO)));
  const from = (middle: number, length: number, most: number) =>
    Math.round(Math.max(0, Math.min(most - length, middle - length / 2)));
  const left = from((x1 + x2) / 2, width, size.width);
  const top = from((y1 + y2) / 2, height, size.height);
  return [
    left,
    top,
    Math.min(size.width, Math.round(left + width)),
    Math.min(size.height, Math.round(top + height)),
  ];
}
