/** The shift of a whole picture: wind and passing lorries move a camera by some pixels. */
import type { Box } from '../boxes/overlap.js';
import { rounded } from '../base/rounded.js';

interface Framed {
  box: Box;
  group: string;
}

/** The most by which the sides of two boxes of one vehicle differ, as a ratio. */
const MOST_SIZE_RATIO = 1.25;
/** How far displacements of vehicles that stand still lie apart: pixels, and a share of the box's side. */
const SPREAD_PIXELS = 1.5;
const SPREAD_SHARE = 0.04;
/** Share of the known boxes that must have moved alike. */
const LEAST_SHARE = 0.4;
const LEAST_PAIRS = 2;
/** Known boxes that are compared; more tell nothing new. */
const MOST_KNOWN = 40;

interface Displacement {
  /** Number of the known box. */
  of: number;
  x: number;
  y: number;
  spread: number;
}

/**
 * By how many pixels the boxes that were found lie beside those that are known, at most `most`: the displacement that
 * most pairs have in common. Zero where too few have one.
 */
export function commonShift(
  known: readonly Framed[],
  found: readonly Framed[],
  most: number,
): [x: number, y: number] {
  const compared = known.slice(0, MOST_KNOWN);
  const least = Math.max(LEAST_PAIRS, LEAST_SHARE * compared.length);
  const moved = compared.flatMap((one, of) =>
    found.flatMap((other) => displacement(of, one, other, most)),
  );
  let best: Displacement[] = [];
  for (const one of moved) {
    const near = moved.filter(
      (other) => Math.hypot(other.x - one.x, other.y - one.y) <= Math.max(one.spread, other.spread),
    );
    const count = countKnown(near);
    const most = countKnown(best);
    if (count > most || (count === most && length(near) < length(best))) best = near;
  }
  return countKnown(best) < least ? [0, 0] : mean(best);
}

function displacement(
  of: number,
  { group, box: [left, top, right, bottom] }: Framed,
  { group: otherGroup, box }: Framed,
  most: number,
): Displacement[] {
  const x = (box[0] + box[2] - left - right) / 2;
  const y = (box[1] + box[3] - top - bottom) / 2;
  if (Math.abs(x) > most || Math.abs(y) > most || group !== otherGroup) return [];
  const [width, height] = [right - left, bottom - top];
  const across = (box[2] - box[0]) / width;
  const down = (box[3] - box[1]) / height;
  if (Math.max(across, down, 1 / across, 1 / down) > MOST_SIZE_RATIO) return [];
  return [{ of, x, y, spread: SPREAD_PIXELS + (SPREAD_SHARE * (width + height)) / 2 }];
}

const countKnown = (moved: readonly Displacement[]): number =>
  new Set(moved.map(({ of }) => of)).size;

const length = (moved: readonly Displacement[]): number => Math.hypot(...mean(moved));

/** Small boxes, whose sides deviate by fewer pixels, weigh more. */
function mean(moved: readonly Displacement[]): [x: number, y: number] {
  let [weights, x, y] = [0, 0, 0];
  for (const one of moved) {
    const weight = one.spread ** -2;
    weights += weight;
    x += weight * one.x;
    y += weight * one.y;
  }
  return weights === 0 ? [0, 0] : [rounded(x / weights, 2), rounded(y / weights, 2)];
}
