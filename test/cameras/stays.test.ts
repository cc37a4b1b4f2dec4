import { describe, expect, test } from 'vitest';
import { PLACE_RULES } from '../../src/cameras/place-tracker.js';
import {
  beginStay,
  continueStay,
  descriptorDistance,
  disagreement,
  isOver,
  splitStay,
  type Stay,
} from '../../src/cameras/stays.js';
import type { Box } from '../../src/boxes/overlap.js';

const BOX: Box = [100, 100, 200, 180];

/** A stay with these boxes, a minute apart. */
function stayOf(boxes: readonly Box[]): Stay {
  const [first = BOX, ...others] = boxes;
  const stay = beginStay(1, 0, { box: first, isStrong: true }, PLACE_RULES);
  others.forEach((box, at) => {
    continueStay(stay, 60 * (at + 1), { box, isStrong: true }, PLACE_RULES);
  });
  return stay;
}

const steady = (count: number, box = BOX) => Array.from({ length: count }, () => box);
const wider = (by: number): Box => [100, 100, 200 + by, 180];

describe('the box of a stay', () => {
  test('is the mean of its boxes, which follows slow changes', () => {
    const noisy = Array.from({ length: 30 }, (_, at) => wider(at % 2 === 0 ? 1 : -1));
    expect(stayOf(noisy).box[2]).toBeCloseTo(200, 0);
    const grown = Array.from({ length: 80 }, (_, at) => wider(at / 10));
    expect(stayOf(grown).box[2]).toBeGreaterThan(205);
    expect(splitStay(stayOf(grown), 2, PLACE_RULES)).toBeNull();
  });

  test('tells another box the better, the more it has seen and the less it scatters', () => {
    const apart = wider(8);
    const far = (boxes: Box[]) => disagreement(stayOf(boxes), apart, PLACE_RULES);
    expect(far(steady(30))).toBeGreaterThan(far(steady(1)));
    const noisy = Array.from({ length: 30 }, (_, at) => wider(at % 2 === 0 ? 4 : -4));
    expect(far(noisy)).toBeLessThan(far(steady(30)));
    expect(disagreement(stayOf(steady(30)), BOX, PLACE_RULES)).toBe(0);
  });
});

test('a stay is split where the mean of its boxes changes', () => {
  const stay = stayOf([...steady(12), ...steady(4, [104, 103, 204, 183])]);
  const other = splitStay(stay, 2, PLACE_RULES);
  expect(other).toMatchObject({ id: 2, since: 720, lastSeen: 900, seen: 4, isStatic: false });
  expect(other?.box).toEqual([104, 103, 204, 183]);
  expect(stay).toMatchObject({ since: 0, lastSeen: 660, seen: 12 });
  expect(splitStay(stay, 3, PLACE_RULES)).toBeNull();
});

describe('a stay is over', () => {
  const unseen = (seen: number, missed: number, count: number) => {
    const stay = { ...stayOf(steady(seen)), missed, unseen: count };
    return isOver(stay, stay.lastSeen + 60 * count, PLACE_RULES);
  };

  test('after some pictures; after more, if it was often missed', () => {
    expect([1, 2, 3, 4].map((count) => unseen(20, 0, count))).toEqual([false, false, false, true]);
    expect([4, 6, 9].map((count) => unseen(20, 20, count))).toEqual([false, false, true]);
  });

  test('not within the shortest gap, however many pictures', () => {
    const stay = { ...stayOf(steady(20)), unseen: 40 };
    expect(isOver(stay, stay.lastSeen + PLACE_RULES.gapSeconds, PLACE_RULES)).toBe(false);
    expect(isOver(stay, stay.lastSeen + PLACE_RULES.gapSeconds + 1, PLACE_RULES)).toBe(true);
  });

  test('after the longest gap, without a picture', () => {
    const stay = stayOf(steady(20));
    expect(isOver(stay, stay.lastSeen + PLACE_RULES.mostGapSeconds, PLACE_RULES)).toBe(false);
    expect(isOver(stay, stay.lastSeen + PLACE_RULES.mostGapSeconds + 1, PLACE_RULES)).toBe(true);
  });
});

test('descriptors differ by the mean difference of their bytes; one that is lacking by none', () => {
  expect(descriptorDistance('00ff', '10ff')).toBe(8);
  expect(descriptorDistance('00ff', '00ff')).toBe(0);
  expect(descriptorDistance(undefined, '00ff')).toBeNull();
  expect(descriptorDistance('00ff', undefined)).toBeNull();
  expect(descriptorDistance('00ff', '00')).toBeNull();
});
