/** Places that people dismissed: what a detector finds there is not counted. */
import { intersectionOverUnion, type Box } from '../boxes/overlap.js';
import { classGroup, scaleBetween } from './matching.js';
import { PLACE_RULES } from './place-tracker.js';

export interface DismissedBox {
  /** See `classGroup`. */
  group: string;
  box: Box;
  /** Size of the picture that the box is of. */
  width: number;
  height: number;
}

/** The dismissed place that a box lies over, in a picture of this size; undefined: none. */
export function dismissalOf<T extends DismissedBox>(
  dismissed: readonly T[],
  { class: name, box }: { class: string; box: Box },
  size: { width: number; height: number },
): T | undefined {
  const group = classGroup(name);
  return dismissed.find((one) => {
    const scale = one.group === group ? scaleBetween(size, one) : null;
    if (scale === null) return false;
    const [left, top, right, bottom] = box;
    const scaled: Box = [left * scale, top * scale, right * scale, bottom * scale];
    return intersectionOverUnion(one.box, scaled) >= PLACE_RULES.leastOverlap;
  });
}
