/** Two answers of one picture, box by box: what came, what went, and what is another. Plain data, for the page too. */
import { intersectionOverUnion, pairGreedily } from './box-overlap.js';
import { classKey } from './class-key.js';
import type { Detection } from './image.js';

/** Boxes that overlap so much are one. */
const SAME_BOX = 0.5;
/** A box has changed where it has another class, its place differs by more than this overlap ... */
const SAME_PLACE = 0.8;
/** ... or its confidence by more than this. */
export const CONFIDENCE_CHANGE = 0.05;
/** 0.9 - 0.85 is more than 0.05 in floating point. */
const ROUNDING = 1e-9;

export const CHANGES = ['gained', 'lost', 'changed', 'same'] as const;
export type Change = (typeof CHANGES)[number];

type Box = Pick<Detection, 'box' | 'class' | 'confidence'>;

/** `lost` has no `after`, `gained` no `before`. */
export interface ComparedBox<T> {
  change: Change;
  before: T | null;
  after: T | null;
}

/**
 * The boxes of the first answer in its order, then those that only the second has. Swapped answers give the same pairs,
 * with gained for lost.
 */
export function compareBoxes<T extends Box>(
  first: readonly T[],
  second: readonly T[],
  confidenceChange = CONFIDENCE_CHANGE,
): ComparedBox<T>[] {
  const partners = pairBoxes(first, second);
  const taken = new Set(partners.values());
  return [
    ...first.map((before, index): ComparedBox<T> => {
      const after = second[partners.get(index) ?? -1];
      if (after === undefined) return { change: 'lost', before, after: null };
      const change = isSame(before, after, confidenceChange) ? 'same' : 'changed';
      return { change, before, after };
    }),
    ...second
      .filter((_, index) => !taken.has(index))
      .map((after): ComparedBox<T> => ({ change: 'gained', before: null, after })),
  ];
}

export function countChanges(
  compared: readonly { change?: Change | undefined }[],
): Record<Change, number> {
  const counts = { gained: 0, lost: 0, changed: 0, same: 0 };
  for (const { change } of compared) if (change !== undefined) counts[change] += 1;
  return counts;
}

export const isOneClass = (one: Pick<Box, 'class'>, other: Pick<Box, 'class'>): boolean =>
  classKey(one.class) === classKey(other.class);

function isSame(before: Box, after: Box, confidenceChange: number): boolean {
  return (
    isOneClass(before, after) &&
    Math.abs(before.confidence - after.confidence) <= confidenceChange + ROUNDING &&
    intersectionOverUnion(before.box, after.box) >= SAME_PLACE
  );
}

/**
 * Index of the second by index of the first. The pairs of one class come first, then what is left may have changed its class;
 * of both the ones that overlap most, and of equal overlaps those of the more confident boxes.
 */
function pairBoxes(first: readonly Box[], second: readonly Box[]): Map<number, number> {
  const pairs: { a: number; b: number; overlap: number; sameClass: boolean }[] = [];
  first.forEach((one, a) => {
    second.forEach((other, b) => {
      const overlap = intersectionOverUnion(one.box, other.box);
      if (overlap >= SAME_BOX) {
        pairs.push({ a, b, overlap, sameClass: isOneClass(one, other) });
      }
    });
  });
  pairs.sort(
    (one, other) =>
      Number(other.sameClass) - Number(one.sameClass) ||
      other.overlap - one.overlap ||
      // The same whichever answer is the first; pairs that are equal in both have no box in common.
      one.a + one.b - (other.a + other.b) ||
      Math.min(one.a, one.b) - Math.min(other.a, other.b),
  );
  return pairGreedily(pairs);
}
