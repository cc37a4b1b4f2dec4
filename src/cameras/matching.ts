/**
 * Which box of a picture lies in which place. The whole picture may be shifted: wind and passing lorries move a camera
 * by some pixels.
 */
import { classKey } from '../api/class-key.js';
import { rounded } from '../base/rounded.js';
import { intersectionOverUnion, type Box } from '../boxes/overlap.js';
import {
  descriptorDistance,
  disagreement,
  type PlacedBox,
  type Stay,
  type StayRules,
} from './stays.js';

export interface MatchRules extends StayRules {
  /** Least intersection over union of a box and the place that it lies in. */
  leastOverlap: number;
  /** The most by which the sides of a box differ from those of its place, as a ratio. */
  mostSizeRatio: number;
  /** The most by which the whole picture may be shifted, as a share of its width. */
  mostShift: number;
}

export interface Framed {
  box: Box;
  /** See `classGroup`; only boxes of one group are compared. */
  group: string;
}

interface KnownPlace extends Framed {
  id: number;
  stay: Stay | null;
  other: Stay | null;
}

const GROUPS = new Map([
  ...['car', 'truck', 'bus', 'van'].map((name) => [name, 'vehicle'] as const),
  ...['motorcycle', 'bicycle'].map((name) => [name, 'cycle'] as const),
]);

/** Classes that a detector takes for one another are one group; any other class is its own. */
export const classGroup = (name: string): string => GROUPS.get(classKey(name)) ?? classKey(name);

interface Size {
  width: number;
  height: number;
}

/** The sides of two pictures of one camera have one ratio, but for rounding. */
const MOST_SHAPE_DIFFERENCE = 0.02;

/** The factor from pixels of a picture to those of another one; null: it shows another view, by its shape. */
export function scaleBetween(picture: Size, { width, height }: Size): number | null {
  const scale = width / picture.width;
  const difference = Math.abs((picture.height * scale) / height - 1);
  return difference > MOST_SHAPE_DIFFERENCE ? null : scale;
}

export interface Match<P, F> {
  place: P;
  found: F;
  /** Smaller is better; up to 1 the box fits a stay of the place. */
  rank: number;
}

/** Boxes and the places that they lie in, one to one, the best first. */
export function matchPlaces<P extends KnownPlace, F extends Framed>(
  places: readonly P[],
  found: readonly F[],
  rules: MatchRules,
): Match<P, F>[] {
  const matches: (Match<P, F> & { at: number })[] = [];
  found.forEach((one, at) => {
    for (const place of places) {
      const rank = rankOf(place, one, rules);
      if (rank !== null) matches.push({ place, found: one, rank, at });
    }
  });
  matches.sort(
    (one, other) => one.rank - other.rank || one.at - other.at || one.place.id - other.place.id,
  );
  const taken = new Set<P | F>();
  return matches.filter(({ place, found: one }) => {
    if (taken.has(place) || taken.has(one)) return false;
    taken.add(place).add(one);
    return true;
  });
}

/** Null where the box does not lie in the place. */
function rankOf(place: KnownPlace, { group, box }: Framed, rules: MatchRules): number | null {
  const [left, top, right, bottom] = place.box;
  if (box[0] >= right || box[2] <= left || box[1] >= bottom || box[3] <= top) return null;
  if (group !== place.group || sizeRatio(place.box, box) > rules.mostSizeRatio) return null;
  const overlap = intersectionOverUnion(place.box, box);
  if (overlap < rules.leastOverlap) return null;
  const ratioTo = (stay: Stay | null) =>
    stay === null ? Infinity : disagreement(stay, box, rules);
  const best = Math.min(ratioTo(place.stay), ratioTo(place.other));
  return best <= rules.mostDisagreement ? best / rules.mostDisagreement : 2 - overlap;
}

function sizeRatio([left, top, right, bottom]: Box, box: Box): number {
  const across = (box[2] - box[0]) / (right - left);
  const down = (box[3] - box[1]) / (bottom - top);
  return Math.max(across, down, 1 / across, 1 / down);
}

/**
 * Whether most vehicles look unlike in the picture before, two at least. That is another light, in which descriptors do
 * not tell one vehicle from another. A place that was empty in between says nothing of it: there it is another vehicle.
 */
export function isOtherLight(
  matches: readonly Match<KnownPlace, PlacedBox>[],
  { mostDescriptorDistance }: MatchRules,
): boolean {
  const distances = matches.flatMap(({ place, found, rank }) =>
    rank > 1 || place.stay === null || place.stay.unseen > 0
      ? []
      : (descriptorDistance(place.stay.descriptor, found.descriptor) ?? []),
  );
  const far = distances.filter((distance) => distance > mostDescriptorDistance);
  return far.length > 1 && 2 * far.length > distances.length;
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
 * By how many pixels the boxes that were found lie beside those that are known, at most `mostShift`: the displacement
 * that most pairs have in common. Zero where too few have one.
 */
export function commonShift(
  known: readonly Framed[],
  found: readonly Framed[],
  mostShift: number,
): [x: number, y: number] {
  const compared = known.slice(0, MOST_KNOWN);
  const moved: Displacement[] = [];
  compared.forEach((one, of) => {
    for (const other of found) {
      const displaced = displacement(of, one, other, mostShift);
      if (displaced !== null) moved.push(displaced);
    }
  });
  let best: Displacement | null = null;
  let most = 0;
  for (const one of moved) {
    const count = countNear(one, moved);
    if (count < most || (count === most && best !== null && length(one) >= length(best))) continue;
    best = one;
    most = count;
  }
  const middle = best;
  if (middle === null || most < Math.max(LEAST_PAIRS, LEAST_SHARE * compared.length)) return [0, 0];
  return mean(moved.filter((other) => isNear(middle, other)));
}

const isNear = (one: Displacement, other: Displacement): boolean =>
  (other.x - one.x) ** 2 + (other.y - one.y) ** 2 <= Math.max(one.spread, other.spread) ** 2;

/** How many known boxes have moved like this one; those of one known box follow one another. */
function countNear(one: Displacement, moved: readonly Displacement[]): number {
  let count = 0;
  let last = -1;
  for (const other of moved) {
    if (other.of === last || !isNear(one, other)) continue;
    count += 1;
    last = other.of;
  }
  return count;
}

function displacement(
  of: number,
  { group, box: known }: Framed,
  { group: otherGroup, box }: Framed,
  mostShift: number,
): Displacement | null {
  const x = (box[0] + box[2] - known[0] - known[2]) / 2;
  const y = (box[1] + box[3] - known[1] - known[3]) / 2;
  if (Math.abs(x) > mostShift || Math.abs(y) > mostShift || group !== otherGroup) return null;
  if (sizeRatio(known, box) > MOST_SIZE_RATIO) return null;
  const side = (known[2] - known[0] + known[3] - known[1]) / 2;
  return { of, x, y, spread: SPREAD_PIXELS + SPREAD_SHARE * side };
}

const length = ({ x, y }: Displacement): number => x ** 2 + y ** 2;

/** Small boxes, whose sides deviate by fewer pixels, weigh more. */
function mean(moved: readonly Displacement[]): [x: number, y: number] {
  let [weights, x, y] = [0, 0, 0];
  for (const one of moved) {
    const weight = one.spread ** -2;
    weights += weight;
    x += weight * one.x;
    y += weight * one.y;
  }
  return [rounded(x / weights, 2), rounded(y / weights, 2)];
}
