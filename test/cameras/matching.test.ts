import { describe, expect, test } from 'vitest';
import { classGroup, commonShift, matchPlaces, type Framed } from '../../src/cameras/matching.js';
import { PLACE_RULES } from '../../src/cameras/place-tracker.js';
import { beginStay } from '../../src/cameras/stays.js';
import type { Box } from '../../src/boxes/overlap.js';

const at = (x: number, y = 0, side = 20): Framed => ({
  box: [x, y, x + side, y + side],
  group: 'vehicle',
});

const place = (id: number, box: Box, group = 'vehicle') => ({
  id,
  group,
  box,
  stay: beginStay(id + 100, 0, { box, isStrong: true }, PLACE_RULES),
  other: null,
});

test('classes that are taken for one another are one group, others their own', () => {
  expect(['car', 'Truck ', 'bus', 'VAN', 'bicycle', 'motorcycle', 'Dog'].map(classGroup)).toEqual([
    ...['vehicle', 'vehicle', 'vehicle', 'vehicle'],
    ...['cycle', 'cycle', 'dog'],
  ]);
});

describe('the common shift', () => {
  const known = [at(0), at(100), at(200), at(300)];
  const shifted = known.map(({ box }) => at(box[0] + 7, -4));

  test('is that of most boxes, whatever else moves', () => {
    expect(commonShift(known, shifted, 40)).toEqual([7, -4]);
    expect(commonShift(known, [...shifted.slice(1), at(30), at(130), at(400)], 40)).toEqual([
      7, -4,
    ]);
    expect(commonShift(known, known, 40)).toEqual([0, 0]);
  });

  test('is none if too few boxes have it, or it is too far', () => {
    expect(commonShift(known, shifted.slice(3), 40)).toEqual([0, 0]);
    expect(commonShift(known, shifted, 6)).toEqual([0, 0]);
    expect(commonShift([], shifted, 40)).toEqual([0, 0]);
    expect(commonShift(known, [], 40)).toEqual([0, 0]);
  });

  test('is not that of boxes of other sizes or groups', () => {
    const larger = shifted.map(({ box }) => at(box[0], box[1], 30));
    expect(commonShift(known, larger, 40)).toEqual([0, 0]);
    const cycles = shifted.map(({ box }) => ({ box, group: 'cycle' }));
    expect(commonShift(known, cycles, 40)).toEqual([0, 0]);
  });
});

describe('boxes and places', () => {
  const places = [place(1, [0, 0, 100, 80]), place(2, [60, 0, 160, 80])];
  const pairs = (found: Framed[]) =>
    matchPlaces(places, found, PLACE_RULES).map(({ place: { id }, found: { box } }) => [
      id,
      box[0],
    ]);
  const box = (x: number, width = 100): Framed => ({
    box: [x, 0, x + width, 80],
    group: 'vehicle',
  });

  test('are paired one to one, the best first', () => {
    expect(pairs([box(59), box(2)])).toEqual([
      [2, 59],
      [1, 2],
    ]);
    expect(pairs([box(1), box(0)])).toEqual([[1, 0]]);
  });

  test('are no pair if they lie apart, or differ in size or group', () => {
    expect(pairs([box(200)])).toEqual([]);
    expect(pairs([box(0, 40)])).toEqual([]);
    expect(pairs([{ ...box(0), group: 'cycle' }])).toEqual([]);
    expect(pairs([box(0, 0)])).toEqual([]);
  });
});
