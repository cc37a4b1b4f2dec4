/** Mean average precision as COCO defines it: 101-point interpolation, mean over classes that have labels. */
import { intersectionOverUnion, type Box } from '../../src/models/self-check/box-overlap.js';
import type { Detection } from '../../src/api/image.js';

export interface LabelledBox {
  class: string;
  box: Box;
}

export interface LabelledPhoto {
  labels: readonly LabelledBox[];
  found: readonly Detection[];
}

/** 0.50, 0.55 ... 0.95. */
export const COCO_OVERLAPS = Array.from({ length: 10 }, (_unused, step) => (50 + 5 * step) / 100);
const RECALL_POINTS = 101;

/** Mean over the overlaps of the mean over the classes; NaN when nothing is labelled. */
export function meanAveragePrecision(
  photos: readonly LabelledPhoto[],
  overlaps: readonly number[],
): number {
  const classes = [...new Set(photos.flatMap((photo) => photo.labels.map((label) => label.class)))];
  const values = overlaps.flatMap((overlap) =>
    classes.map((name) => averagePrecision(photos, name, overlap)),
  );
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Area under the interpolated precision-recall curve of one class. */
export function averagePrecision(
  photos: readonly LabelledPhoto[],
  className: string,
  overlap: number,
): number {
  const outcomes: { confidence: number; hit: boolean }[] = [];
  let labelled = 0;
  for (const photo of photos) {
    const labels = photo.labels.filter((label) => label.class === className);
    labelled += labels.length;
    outcomes.push(...judge(photo.found, labels, className, overlap));
  }
  outcomes.sort((a, b) => b.confidence - a.confidence);
  const precisions: number[] = [];
  const recalls: number[] = [];
  let hits = 0;
  outcomes.forEach(({ hit }, index) => {
    if (hit) hits += 1;
    precisions.push(hits / (index + 1));
    recalls.push(hits / labelled);
  });
  return interpolated(precisions, recalls);
}

/** In order of score each box takes the label that it overlaps most of those still free. */
function judge(
  found: readonly Detection[],
  labels: readonly LabelledBox[],
  className: string,
  overlap: number,
): { confidence: number; hit: boolean }[] {
  const free = new Set(labels);
  return found
    .filter((box) => box.class === className)
    .sort((a, b) => b.confidence - a.confidence)
    .map(({ box, confidence }) => {
      let best: { label: LabelledBox; iou: number } | null = null;
      for (const label of free) {
        const iou = intersectionOverUnion(box, label.box);
        if (iou >= overlap && iou > (best?.iou ?? 0)) best = { label, iou };
      }
      if (best !== null) free.delete(best.label);
      return { confidence, hit: best !== null };
    });
}

/** Mean over recall 0, 0.01 ... 1 of the best precision at that recall or beyond. */
function interpolated(precisions: number[], recalls: number[]): number {
  const envelope = [...precisions];
  for (let index = envelope.length - 2; index >= 0; index--) {
    envelope[index] = Math.max(envelope[index] ?? 0, envelope[index + 1] ?? 0);
  }
  let sum = 0;
  let at = 0;
  for (let point = 0; point < RECALL_POINTS; point++) {
    const recall = point / (RECALL_POINTS - 1);
    // Recalls are quotients; without a margin 3/10 would miss the point 0.3.
    while (at < recalls.length && (recalls[at] ?? 0) < recall - 1e-9) at += 1;
    sum += envelope[at] ?? 0;
  }
  return sum / RECALL_POINTS;
}
