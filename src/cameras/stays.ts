/**
 * A stay: one vehicle that stands in one place. It knows its own box and how much that box scatters, by which the next
 * box is told from that of another vehicle.
 */
import type { Box } from '../boxes/overlap.js';

export interface StayRules {
  /** Seconds that a stay lasts at least, from its first to its last box, before it is static. */
  staticSeconds: number;
  /** Pictures in which a stay is seen at least before it is static. */
  staticPictures: number;
  /** Share of the pictures of its span in which a stay is seen at least before it is static. */
  staticShare: number;
  /** Seconds for which a stay may be unseen at any rate. */
  gapSeconds: number;
  /** Pictures in a row in which a stay may be unseen at any rate; more if it is often missed, see `isOver`. */
  gapPictures: number;
  /** Seconds after which an unseen stay ends, even if there was no picture at all. */
  mostGapSeconds: number;
  /** Standard deviation of a side of a box that stands still, as a share of the box's width or height. */
  jitterShare: number;
  /** The part of that deviation that does not shrink with the box, in pixels. */
  jitterPixels: number;
  /** The most by which the squares of the deviations exceed those of the stay's own scatter, as a ratio. */
  mostDisagreement: number;
  /** The same for the mean of several boxes in a row. */
  mostMeanDisagreement: number;
  /** Deviation of that mean, as a share of the box's sides, below which it is one vehicle for all that. */
  leastChange: number;
  /**
   * Mean difference of the bytes of two descriptors above which they are of different vehicles. Used only where both
   * pictures have descriptors.
   */
  mostDescriptorDistance: number;
}

export interface Stay {
  /** Stable number within the camera. */
  id: number;
  /** Time of the first box, seconds. */
  since: number;
  /** Time of the last box, seconds. */
  lastSeen: number;
  /** Pictures with a box of it. */
  seen: number;
  /** Pictures without one between its first and its last box; those that show another vehicle there count twice. */
  missed: number;
  /** Pictures in a row without one since its last box. */
  unseen: number;
  /** Running mean of the boxes before the recent ones, in pixels of the camera's first picture. */
  box: Box;
  /** The latest boxes, oldest first, in which a change is looked for before they enter the mean. */
  recent: { time: number; box: Box }[];
  /** Running mean of the squared deviation of a side, as shares of width and height. */
  scatter: number;
  /** Time of the newest box in the mean. */
  averagedUntil: number;
  /** A box of it was above the threshold. */
  isStrong: boolean;
  isStatic: boolean;
  /** The newest descriptor, in hexadecimal. */
  descriptor?: string;
}

/** A box in the frame of the places: scaled to the camera's first picture, without the common shift. */
export interface PlacedBox {
  box: Box;
  /** It is above the threshold. */
  isStrong: boolean;
  descriptor?: string;
}

/** Weight of the expected scatter in the stay's own, in boxes. */
const EXPECTED_WEIGHT = 5;
/** Least weight of the newest box in the mean box, so that it follows slow changes. */
const LEAST_WEIGHT = 0.1;
/** The stay's own scatter counts as within this factor of the expected one. */
const MOST_SCATTER_RATIO = 4;
/** A stay whose own scatter is more than this times the expected one is of several vehicles: it is not static. */
const MOST_STATIC_RATIO = 3;
/** A stay that is seen again has been unseen by accident unless that is less probable than this. */
const LEAST_PROBABILITY = 0.01;
/** The most of a stay's pictures that count as missed by accident. */
const MOST_MISSED_SHARE = 0.6;

/** Boxes at the start of a stay that enter the mean at once. */
const LEAST_AVERAGED = 2;
/** Boxes in which a change is looked for, and how many of them show one at least. */
const MOST_RECENT = 8;
const LEAST_CHANGED = 2;

export function beginStay(
  id: number,
  time: number,
  { box, isStrong, descriptor }: PlacedBox,
  rules: StayRules,
): Stay {
  return {
    id,
    since: time,
    lastSeen: time,
    seen: 1,
    missed: 0,
    unseen: 0,
    box: roundedBox(box),
    recent: [],
    averagedUntil: time,
    scatter: rules.jitterShare ** 2,
    isStrong,
    isStatic: false,
    ...(descriptor !== undefined && { descriptor }),
  };
}

/** Takes a box of the stay's own vehicle into it. */
export function continueStay(stay: Stay, time: number, found: PlacedBox, rules: StayRules): void {
  const expected = rules.jitterShare ** 2;
  // A new box deviates from the mean of n boxes by (1 + 1/n) of the scatter.
  const deviation = squaredDeviation(stay.box, found.box) / (1 + 1 / averaged(stay));
  stay.seen += 1;
  const share = Math.max(1 / (EXPECTED_WEIGHT + stay.seen), LEAST_WEIGHT / 2);
  const scatter = stay.scatter + share * (deviation - stay.scatter);
  stay.scatter = Math.round(Math.max(expected / MOST_SCATTER_RATIO, scatter) * 1e7) / 1e7;
  stay.recent.push({ time, box: roundedBox(found.box) });
  const isNew = stay.seen <= LEAST_AVERAGED;
  const oldest = isNew || stay.recent.length > MOST_RECENT ? stay.recent.shift() : undefined;
  if (oldest !== undefined) {
    const weight = Math.max(1 / averaged(stay), LEAST_WEIGHT);
    stay.averagedUntil = oldest.time;
    stay.box = roundedBox(between(stay.box, oldest.box, weight));
  }
  stay.missed += stay.unseen;
  stay.unseen = 0;
  stay.lastSeen = time;
  stay.isStrong ||= found.isStrong;
  if (found.descriptor !== undefined) stay.descriptor = found.descriptor;
}

/**
 * Finds out whether the recent boxes are of another vehicle, which no single one of them shows: their mean scatters
 * less. Then the stay ends before them, and the other one's stay is returned.
 */
export function splitStay(stay: Stay, id: number, rules: StayRules): Stay | null {
  let split: { count: number; ratio: number; box: Box } | null = null;
  let box = stay.box;
  for (let count = 1; count <= stay.recent.length; count += 1) {
    // The mean of the last boxes, so many.
    box = between(box, stay.recent.at(-count)?.box ?? box, 1 / count);
    if (count < LEAST_CHANGED) continue;
    const deviation = squaredDeviation(stay.box, box);
    const allowed = expectedDeviation(stay, rules) * (1 / count + 1 / averaged(stay));
    const ratio = deviation / allowed;
    const isChange = deviation > rules.leastChange ** 2 && ratio > rules.mostMeanDisagreement;
    if (isChange && ratio > (split?.ratio ?? 0)) split = { count, ratio, box };
  }
  if (split === null) return null;
  const changed = stay.recent.splice(-split.count);
  const before = stay.recent.at(-1);
  const { time: since } = changed[0] ?? { time: stay.lastSeen };
  const other: Stay = {
    id,
    since,
    lastSeen: stay.lastSeen,
    seen: split.count,
    missed: 0,
    unseen: 0,
    box: roundedBox(split.box),
    recent: [],
    averagedUntil: stay.lastSeen,
    scatter: rules.jitterShare ** 2,
    isStrong: stay.isStrong,
    isStatic: false,
    ...(stay.descriptor !== undefined && { descriptor: stay.descriptor }),
  };
  stay.seen -= split.count;
  stay.lastSeen = before?.time ?? stay.averagedUntil;
  return other;
}

/**
 * The squared deviation of a box from the stay's own, as a ratio to its scatter. Above `mostDisagreement` it is a box
 * of another vehicle, or of this one half hidden.
 */
export function disagreement(stay: Stay, box: Box, rules: StayRules): number {
  const allowed = expectedDeviation(stay, rules) * (1 + 1 / averaged(stay));
  return squaredDeviation(stay.box, box) / allowed;
}

/** Boxes in the mean; no more count than its least weight leaves. */
const averaged = ({ seen, recent }: Stay): number =>
  Math.min(seen - recent.length, 2 / LEAST_WEIGHT - 1);

function expectedDeviation({ scatter, box: [left, top, right, bottom] }: Stay, rules: StayRules) {
  const perPixel = (1 / (right - left) ** 2 + 1 / (bottom - top) ** 2) / 2;
  const own = Math.min(scatter, MOST_SCATTER_RATIO * rules.jitterShare ** 2);
  return own + rules.jitterPixels ** 2 * perPixel;
}

/**
 * Mean difference of the bytes, 0 to 255; null where one is lacking. A descriptor is 64 bytes in hexadecimal, made of
 * the gradients of the box, which light changes little (`DescriptorOf` in native/image):
 *
 * 1. The picture as it is shown is reduced to its luma, that of JFIF, by means over n x n pixels, where n is the least
 *    number by which no side is longer than 1280. The box is cut in 24 x 24 cells; each has the mean of the reduced
 *    pixels that it touches, one at least.
 * 2. Each cell but those at the border has a gradient: right less left, below less above. Its length is added to one
 *    of 4 orientations, from 0 to 180 degrees, of its block; there are 4 x 4 blocks of 6 x 6 cells.
 * 3. The 64 sums (by rows of blocks, then orientation) are divided by the root of their squares' sum plus 20; a byte is
 *    255 times the least of 1 and 3 times that, rounded.
 */
export function descriptorDistance(one?: string, other?: string): number | null {
  if (one === undefined || other?.length !== one.length) return null;
  const [a, b] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return a.reduce((sum, byte, at) => sum + Math.abs(byte - (b[at] ?? 0)), 0) / a.length;
}

export function hasBecomeStatic(stay: Stay, rules: StayRules): boolean {
  return (
    !stay.isStatic &&
    stay.isStrong &&
    stay.lastSeen - stay.since >= rules.staticSeconds &&
    stay.seen >= rules.staticPictures &&
    stay.scatter <=
      MOST_STATIC_RATIO * expectedDeviation({ ...stay, scatter: rules.jitterShare ** 2 }, rules) &&
    stay.seen >= rules.staticShare * (stay.seen + stay.missed)
  );
}

/**
 * Whether a stay has ended: it is unseen for longer than the gap, and so many pictures in a row as a vehicle that is
 * missed as often as this one is so far would hardly be.
 */
export function isOver(stay: Stay, time: number, rules: StayRules): boolean {
  const gap = time - stay.lastSeen;
  if (gap > rules.mostGapSeconds) return true;
  if (gap <= rules.gapSeconds || stay.unseen <= rules.gapPictures) return false;
  const missedShare = (stay.missed + 0.5) / (stay.seen + stay.missed + 1);
  return Math.min(missedShare, MOST_MISSED_SHARE) ** stay.unseen < LEAST_PROBABILITY;
}

function squaredDeviation([left, top, right, bottom]: Box, box: Box): number {
  const [width, height] = [right - left, bottom - top];
  const across = ((box[0] - left) ** 2 + (box[2] - right) ** 2) / width ** 2;
  return (across + ((box[1] - top) ** 2 + (box[3] - bottom) ** 2) / height ** 2) / 4;
}

/** The box at this share of the way from one to the other. */
const between = (one: Box, other: Box, share: number): Box => [
  one[0] + share * (other[0] - one[0]),
  one[1] + share * (other[1] - one[1]),
  one[2] + share * (other[2] - one[2]),
  one[3] + share * (other[3] - one[3]),
];

/** To the hundredth of a pixel, so that the state is short; done for each box. */
const roundedBox = ([left, top, right, bottom]: Box): Box => [
  Math.round(left * 100) / 100,
  Math.round(top * 100) / 100,
  Math.round(right * 100) / 100,
  Math.round(bottom * 100) / 100,
];
