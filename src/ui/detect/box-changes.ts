/** Two answers of one picture, box by box. */
import type { Detection, ShownBox } from '../picture/shown-boxes.js';

/** Of one class, boxes that overlap so much are one. */
const SAME_BOX = 0.5;
/** A box has changed where its confidence differs by so much, or its place by more than this overlap. */
const CONFIDENCE_STEP = 0.05;
const SAME_PLACE = 0.8;
/** Numbers of boxes that the first answer does not have; it has at most 300. */
const GAINED_FROM = 1_000;

export type Change = 'gained' | 'lost' | 'changed' | 'same';

export interface ComparedBox extends ShownBox {
  change: Change;
}

/** The boxes of the first answer, then those that only the second has. */
export function compareBoxes(
  first: readonly ShownBox[],
  second: readonly ShownBox[],
): ComparedBox[] {
  const pairs = first
    .flatMap((a) => second.map((b) => ({ a, b, overlap: overlapOf(a, b) })))
    .filter(({ a, b, overlap }) => a.class === b.class && overlap >= SAME_BOX)
    .sort((one, other) => other.overlap - one.overlap);
  const partners = new Map<ShownBox, Change>();
  for (const { a, b, overlap } of pairs) {
    if (partners.has(a) || partners.has(b)) continue;
    const isSame = Math.abs(a.confidence - b.confidence) < CONFIDENCE_STEP && overlap >= SAME_PLACE;
    partners.set(a, isSame ? 'same' : 'changed');
    partners.set(b, 'same');
  }
  return [
    ...first.map((box) => ({ ...box, change: partners.get(box) ?? ('lost' as const) })),
    ...second
      .filter((box) => !partners.has(box))
      .map((box) => ({ ...box, id: GAINED_FROM + box.id, change: 'gained' as const })),
  ];
}

export function countChanges(boxes: readonly ComparedBox[]): Record<Change, number> {
  const counts = { gained: 0, lost: 0, changed: 0, same: 0 };
  for (const { change } of boxes) counts[change] += 1;
  return counts;
}

/** Intersection over union. */
function overlapOf({ box: a }: Detection, { box: b }: Detection): number {
  const side = (from: number, to: number) => Math.max(0, to - from);
  const area = ([x1, y1, x2, y2]: Detection['box']) => side(x1, x2) * side(y1, y2);
  const shared =
    side(Math.max(a[0], b[0]), Math.min(a[2], b[2])) *
    side(Math.max(a[1], b[1]), Math.min(a[3], b[3]));
  const union = area(a) + area(b) - shared;
  return union === 0 ? 0 : shared / union;
}
