/** Two answers for one picture, box by box: gained, lost, changed and same boxes. */
import { intersectionOverUnion } from './overlap.js';
import { isOneClass, pairBoxes, type BoxPair, type PairedBox } from './pairing.js';

/**
 * A box has changed if its class differs, its overlap with its partner is below SAME_PLACE, or its confidence differs
 * by more than CONFIDENCE_CHANGE.
 */
const SAME_PLACE = 0.8;
export const CONFIDENCE_CHANGE = 0.05;
/** Allowance for floating point, where 0.9 - 0.85 is more than 0.05. */
const ROUNDING = 1e-9;

export const CHANGES = ['gained', 'lost', 'changed', 'same'] as const;
export type Change = (typeof CHANGES)[number];

/** `lost` has no `after`, `gained` no `before`. */
export interface ComparedBox<T> extends BoxPair<T> {
  change: Change;
}

/** Compares the pairs of `pairBoxes`. Swapped answers give the same pairs, with gained for lost. */
export function compareBoxes<T extends PairedBox>(
  first: readonly T[],
  second: readonly T[],
  confidenceChange = CONFIDENCE_CHANGE,
): ComparedBox<T>[] {
  return pairBoxes(first, second).map((pair) => ({
    change: changeOf(pair, confidenceChange),
    ...pair,
  }));
}

export function countChanges(
  compared: readonly { change?: Change | undefined }[],
): Record<Change, number> {
  const counts = { gained: 0, lost: 0, changed: 0, same: 0 };
  for (const { change } of compared) if (change !== undefined) counts[change] += 1;
  return counts;
}

function changeOf({ before, after }: BoxPair<PairedBox>, confidenceChange: number): Change {
  if (before === null) return 'gained';
  if (after === null) return 'lost';
  const isSame =
    isOneClass(before, after) &&
    Math.abs(before.confidence - after.confidence) <= confidenceChange + ROUNDING &&
    intersectionOverUnion(before.box, after.box) >= SAME_PLACE;
  return isSame ? 'same' : 'changed';
}
