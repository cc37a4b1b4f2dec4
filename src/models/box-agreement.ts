/** Found boxes against expected ones, photo by photo. */
import { intersectionOverUnion, pairGreedily } from '../api/box-overlap.js';
import type { Detection } from '../api/image.js';

export interface Agreement {
  /** Share of the expected boxes that we found. */
  recall: number;
  /** Share of the found boxes that were expected. */
  precision: number;
  /** Of the boxes on both sides together, those that have a partner; also called F1. Null without a box. */
  share: number | null;
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
 * Both lists hold boxes down to a lower score than `floor`. A box counts (on either side) when its score is
 * above `floor`; its partner may be weaker, so that a box at the very floor is no accident. Partners have the
 * same class, overlap by `overlap` at least and differ in score by `scoreGap` at most; each box has one partner, best
 * overlap first.
 */
export function compare(
  pairs: readonly PhotoPair[],
  overlap: number,
  floor: number,
  scoreGap = Infinity,
): Agreement {
  const total = { expected: 0, found: 0, expectedHit: 0, foundHit: 0 };
  let confidenceGap = 0;
  const misses: string[] = [];
  for (const { photo, expected, found } of pairs) {
    const partners = pairUp(expected, found, overlap, scoreGap);
    const foundWithPartner = new Set(partners.values());
    for (const box of expected.filter(({ confidence }) => confidence > floor)) {
      total.expected += 1;
      if (partners.has(box)) total.expectedHit += 1;
      else misses.push(`${photo}: missed ${describe(box)}${nearest(box, found)}`);
    }
    for (const box of found.filter(({ confidence }) => confidence > floor)) {
      total.found += 1;
      if (foundWithPartner.has(box)) total.foundHit += 1;
      else misses.push(`${photo}: not expected ${describe(box)}${nearest(box, expected)}`);
    }
    for (const [a, b] of partners) {
      if (Math.max(a.confidence, b.confidence) <= floor) continue;
      confidenceGap = Math.max(confidenceGap, Math.abs(a.confidence - b.confidence));
    }
  }
  const boxes = total.expected + total.found;
  return {
    recall: share(total.expectedHit, total.expected),
    precision: share(total.foundHit, total.found),
    share: boxes === 0 ? null : (total.expectedHit + total.foundHit) / boxes,
    expected: total.expected,
    found: total.found,
    confidenceGap,
    misses,
  };
}

/** Expected -> found, greedy by overlap. */
function pairUp(
  expected: readonly Detection[],
  found: readonly Detection[],
  overlap: number,
  scoreGap: number,
): Map<Detection, Detection> {
  const candidates = expected.flatMap((a) =>
    found
      .filter((b) => b.class === a.class && Math.abs(b.confidence - a.confidence) <= scoreGap)
      .map((b) => ({ a, b, iou: intersectionOverUnion(a.box, b.box) }))
      .filter(({ iou }) => iou >= overlap),
  );
  candidates.sort((one, other) => other.iou - one.iou);
  return pairGreedily(candidates);
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
function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
