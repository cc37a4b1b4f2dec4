/**
 * Which boxes of two answers on one picture are the same thing. Two jobs, two models, an alias and its shadow, and an
 * engine and f32 are paired by this function.
 */
import { classKey } from '../api/class-key.js';
import type { Detection } from '../api/schemas/image.js';
import { intersectionOverUnion } from './overlap.js';

export type PairedBox = Pick<Detection, 'box' | 'class' | 'confidence'>;

/** Two boxes that are partners. One is null if the other has no partner. */
export interface BoxPair<T> {
  before: T | null;
  after: T | null;
}

/** The rule by which boxes may be partners. */
export interface PairingRule {
  /** Least intersection over union. */
  overlap: number;
  /** Partners have one class. Otherwise what has none of its own class may have one of another. */
  oneClass: boolean;
  /** Largest difference of their confidences. */
  scoreGap: number;
}

/** Boxes in one place, whatever their class and confidence. */
export const ONE_PLACE: PairingRule = { overlap: 0.5, oneClass: false, scoreGap: Infinity };

export const isOneClass = (
  one: Pick<PairedBox, 'class'>,
  other: Pick<PairedBox, 'class'>,
): boolean => classKey(one.class) === classKey(other.class);

/**
 * The boxes of the first answer in its order, then those that only the second has; each box is in one pair. The pairs
 * of one class come first, then those that overlap most, and of equal overlaps those of the boxes that stand first in
 * their lists, which are the more confident ones. Swapped answers give the same pairs.
 */
export function pairBoxes<T extends PairedBox>(
  first: readonly T[],
  second: readonly T[],
  rule: PairingRule = ONE_PLACE,
): BoxPair<T>[] {
  const partners = new Map<number, number>();
  const taken = new Set<number>();
  for (const { a, b } of candidates(first, second, rule)) {
    if (partners.has(a) || taken.has(b)) continue;
    partners.set(a, b);
    taken.add(b);
  }
  return [
    ...first.map((before, a) => ({ before, after: second[partners.get(a) ?? -1] ?? null })),
    ...second.filter((_, b) => !taken.has(b)).map((after) => ({ before: null, after })),
  ];
}

/** Pairs of indexes that may be partners, the best first. */
function candidates(
  first: readonly PairedBox[],
  second: readonly PairedBox[],
  { overlap: least, oneClass, scoreGap }: PairingRule,
): { a: number; b: number }[] {
  const pairs: { a: number; b: number; overlap: number; sameClass: boolean }[] = [];
  first.forEach((one, a) => {
    second.forEach((other, b) => {
      const overlap = intersectionOverUnion(one.box, other.box);
      if (overlap < least || Math.abs(one.confidence - other.confidence) > scoreGap) return;
      const sameClass = isOneClass(one, other);
      if (sameClass || !oneClass) pairs.push({ a, b, overlap, sameClass });
    });
  });
  return pairs.sort(
    (one, other) =>
      Number(other.sameClass) - Number(one.sameClass) ||
      other.overlap - one.overlap ||
      // The same whichever answer is the first; pairs that are equal in both have no box in common.
      one.a + one.b - (other.a + other.b) ||
      Math.min(one.a, one.b) - Math.min(other.a, other.b),
  );
}
