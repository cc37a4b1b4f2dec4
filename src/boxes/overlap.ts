/** Geometry of boxes `[x1, y1, x2, y2]`. */
export type Box = readonly [number, number, number, number];

/** Intersection over union, 0 to 1; 0 when either box has no area. */
export function intersectionOverUnion(a: Box, b: Box): number {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

function area(box: Box): number {
  return Math.max(0, box[2] - box[0]) * Math.max(0, box[3] - box[1]);
}
