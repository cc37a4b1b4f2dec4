/** Mean average precision by COCO's rules: how well the boxes of a detector fit labels. */
import { classKey } from '../api/class-key.js';
import type { Detection } from '../api/schemas/image.js';
import { intersectionOverUnion, type Box } from './overlap.js';

export interface LabelledBox {
  class: string;
  /** Pixels of the picture. */
  box: Box;
}

const OVERLAPS = Array.from({ length: 10 }, (_, step) => (50 + 5 * step) / 100);
const RECALL_POINTS = 101;

/**
 * mAP50-95, 0 to 1: the mean over the classes that have labels and over the overlaps 0.5 to 0.95, or over these. Both
 * lists are by picture. Labels for which `counts` is false are neither wanted nor wrong to find, and a box that fits no
 * label is wrong only where it counts itself. Null without a label that counts.
 */
export function meanAveragePrecision(
  found: readonly (readonly Detection[])[],
  labels: readonly (readonly LabelledBox[])[],
  overlaps: readonly number[] = OVERLAPS,
  counts: (box: Box) => boolean = () => true,
): number | null {
  const counted = labels.flat().filter(({ box }) => counts(box));
  const classes = [...new Set(counted.map((label) => classKey(label.class)))];
  const figures = classes.flatMap((name) => {
    const mine = found.map((boxes) => boxes.filter((box) => classKey(box.class) === name));
    const wanted = labels.map((boxes) =>
      boxes.filter((label) => classKey(label.class) === name).map(({ box }) => box),
    );
    return overlaps.map((overlap) => averagePrecision(mine, wanted, overlap, counts));
  });
  return figures.length === 0 ? null : figures.reduce((sum, one) => sum + one, 0) / figures.length;
}

/**
 * The average precision of one class at one overlap: the mean of the best precision at or beyond each of 101 recalls.
 */
function averagePrecision(
  found: readonly (readonly Detection[])[],
  labels: readonly (readonly Box[])[],
  overlap: number,
  counts: (box: Box) => boolean,
): number {
  const labelCount = labels.flat().filter(counts).length;
  let right = 0;
  let best = 0;
  const points = matches(found, labels, overlap, counts).map((isRight, index) => {
    if (isRight) right += 1;
    return { recall: right / labelCount, precision: right / (index + 1) };
  });
  let sum = 0;
  let step = RECALL_POINTS - 1;
  for (const { recall, precision } of points.reverse()) {
    for (; step >= 0 && step / (RECALL_POINTS - 1) > recall; step -= 1) sum += best;
    best = Math.max(best, precision);
  }
  return (sum + best * (step + 1)) / RECALL_POINTS;
}

/** Whether each box that counts, highest confidence first, is the first on a label. */
function matches(
  found: readonly (readonly Detection[])[],
  labels: readonly (readonly Box[])[],
  overlap: number,
  counts: (box: Box) => boolean,
): boolean[] {
  const free = labels.map((boxes) => new Set(boxes));
  return found
    .flatMap((boxes, picture) => boxes.map((box) => ({ ...box, picture })))
    .sort((a, b) => b.confidence - a.confidence)
    .flatMap(({ box, picture }) => {
      let best: Box | undefined;
      let most = overlap;
      for (const label of free[picture] ?? []) {
        const shared = intersectionOverUnion(box, label);
        // A label that counts goes before one that does not.
        const isBetter =
          best !== undefined && counts(label) !== counts(best) ? counts(label) : shared >= most;
        if (isBetter && shared >= overlap) [best, most] = [label, shared];
      }
      if (best === undefined) return counts(box) ? [false] : [];
      free[picture]?.delete(best);
      return counts(best) ? [true] : [];
    });
}
