/** Found boxes against expected ones, photo by photo, with a line for each box that has no partner. */
import type { Detection } from '../../src/api/schemas/image.js';
import { agreementOf } from '../../src/boxes/agreement.js';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';
import { pairBoxes } from '../../src/boxes/pairing.js';

export interface BoxAgreement {
  /** Share of the expected boxes that were found. */
  recall: number;
  /** Share of the found boxes that were expected. */
  precision: number;
  expected: number;
  found: number;
  /** Largest difference of score within a matched pair. */
  confidenceGap: number;
  /** One line a box without a partner. */
  misses: string[];
}

export interface PhotoPair {
  photo: string;
  expected: readonly Detection[];
  found: readonly Detection[];
}

/**
 * Both lists hold boxes down to a lower score than `floor`. A box counts (on either side) when its score is above
 * `floor`; its partner may be weaker. Partners have the same class.
 */
export function compare(
  photos: readonly PhotoPair[],
  overlap: number,
  floor: number,
  scoreGap = Infinity,
): BoxAgreement {
  const rule = { overlap, oneClass: true, scoreGap };
  const pictures = photos.map(({ photo, expected, found }) => ({
    picture: photo,
    boxes: pairBoxes(expected, found, rule),
  }));
  const { all } = agreementOf(pictures, floor, false);
  let confidenceGap = 0;
  const misses: string[] = [];
  for (const [index, { picture, boxes }] of pictures.entries()) {
    for (const { before, after } of boxes) {
      const scores = [before?.confidence ?? 0, after?.confidence ?? 0] as const;
      if (Math.max(...scores) <= floor) continue;
      if (before !== null && after !== null) {
        confidenceGap = Math.max(confidenceGap, Math.abs(scores[0] - scores[1]));
      } else if (before !== null) {
        misses.push(
          `${picture}: missed ${describe(before)}${nearest(before, photos[index]!.found)}`,
        );
      } else if (after !== null) {
        const near = nearest(after, photos[index]!.expected);
        misses.push(`${picture}: not expected ${describe(after)}${near}`);
      }
    }
  }
  return {
    recall: partOf(all.first, all.lost),
    precision: partOf(all.second, all.gained),
    expected: all.first,
    found: all.second,
    confidenceGap,
    misses,
  };
}

function nearest(box: Detection, others: readonly Detection[]): string {
  let best: { other: Detection; iou: number } | null = null;
  for (const other of others) {
    const iou = intersectionOverUnion(box.box, other.box);
    if (iou > (best?.iou ?? 0)) best = { other, iou };
  }
  return best === null ? '' : `; nearest ${describe(best.other)} at IoU ${best.iou.toFixed(3)}`;
}

function describe({ class: name, confidence, box }: Detection): string {
  return `${name} ${confidence.toFixed(3)} [${box.map((edge) => edge.toFixed(1)).join(', ')}]`;
}

/** Nothing to find is found in full. */
function partOf(whole: number, missing: number): number {
  return whole === 0 ? 1 : (whole - missing) / whole;
}
