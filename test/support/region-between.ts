/** A region as high as the picture. */
import type { Region } from '../../src/api/region-rules.js';

/** From `left` to `right`, in shares of the picture's width. */
export const regionBetween = (
  name: string,
  left: number,
  right: number,
  more: Partial<Region> = {},
): Region => ({
  name,
  polygon: [
    [left, 0],
    [right, 0],
    [right, 1],
    [left, 1],
  ],
  ...more,
});
