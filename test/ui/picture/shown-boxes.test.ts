import { expect, test } from 'vitest';
import {
  classCountsAbove,
  floorOf,
  histogram,
  shownBoxes,
  type Detection,
} from '../../../src/ui/picture/shown-boxes.js';

const found = (name: string, confidence: number): Detection => ({
  box: [0, 0, 10, 10],
  class: name,
  confidence,
});
const ALL = [found('car', 0.9), found('bus', 0.5), found('car', 0.3), found('Car', 0.11)];

test('a threshold and switched-off classes leave the numbers of the boxes as they are', () => {
  const ids = (threshold: number, ...hidden: string[]) =>
    shownBoxes(ALL, { threshold, hidden: new Set(hidden) }).map(({ id }) => id);
  // Above the threshold, as in a request.
  expect([ids(0.1), ids(0.3), ids(0.29), ids(1)]).toEqual([[0, 1, 2, 3], [0, 1], [0, 1, 2], []]);
  expect([ids(0.1, 'car'), ids(0.1, 'car', 'bus', 'Car')]).toEqual([[1, 3], []]);
});

test('classes are counted above the threshold and stay when none is left', () => {
  expect(classCountsAbove(ALL, { threshold: 0.4 })).toEqual([
    { name: 'car', shown: 1 },
    { name: 'bus', shown: 1 },
    { name: 'Car', shown: 0 },
  ]);
});

test('a class may have a threshold of its own, in any letter case', () => {
  const byClass = new Map([['car', 0.1]]);
  const shown = (threshold: number) =>
    shownBoxes(ALL, { threshold, byClass, hidden: new Set() }).map(({ id }) => id);
  expect([shown(0.4), shown(0.6)]).toEqual([
    [0, 1, 2, 3],
    [0, 2, 3],
  ]);
  expect(classCountsAbove(ALL, { threshold: 0.6, byClass }).map((each) => each.shown)).toEqual([
    2, 0, 1,
  ]);
});

test('the floor is the highest percent that leaves every box', () => {
  expect(floorOf(ALL)).toBe(0.1);
  expect([floorOf([]), floorOf([found('car', 0)]), floorOf([found('car', 0.355)])]).toEqual([0.99, 0, 0.35]); // prettier-ignore
  for (const { confidence } of ALL) expect(floorOf([found('car', confidence)])).toBeLessThan(confidence); // prettier-ignore
});

test('an alternative is said where it is above the threshold too', () => {
  const unsure = { ...found('car', 0.9), alternative: { class: 'truck', confidence: 0.4 } };
  const shown = (threshold: number) => shownBoxes([unsure], { threshold, hidden: new Set() });
  expect(shown(0.3)).toEqual([{ ...unsure, id: 0 }]);
  expect(shown(0.4)).toEqual([{ ...found('car', 0.9), id: 0 }]);
});

test('the ends of the range fall into its first and last part', () => {
  expect(histogram([0, 0.09, 0.1, 0.5, 0.999, 1], 10)).toEqual([2, 1, 0, 0, 0, 1, 0, 0, 0, 2]);
});
