import { expect, test } from 'vitest';
import {
  countsOf,
  emptyPast,
  fromText,
  hourRow,
  learn,
  measure,
  rangeOf,
  usualGaps,
  withGap,
  withHour,
  withLook,
  type CameraPast,
  type Usual,
} from '../../src/cameras/camera-past.js';
import { inEvenLight, LOOK_CELLS } from '../../src/cameras/picture-look.js';

const DAY = 86_400;

test('a usual value follows what it learns; one far value moves it little', () => {
  let usual: Usual = [0, 0, 0];
  for (let index = 0; index < 40; index += 1) usual = learn(usual, index % 2 === 0 ? 9 : 11);
  expect(usual[0]).toBe(40);
  expect(usual[1]).toBeCloseTo(10, 0);
  expect(usual[2]).toBeCloseTo(1, 0);
  expect(learn(usual, 1_000)[1]).toBeLessThan(10.5);
  expect(rangeOf([6, 10, 1], 3)).toBe(6);
  expect(rangeOf([600, 10, 1], 3)).toBeCloseTo(3, 1);
});

test('the usual view is what most pictures show, whatever passes', () => {
  const street = Uint8Array.from({ length: LOOK_CELLS }, (_, cell) => (cell % 32) * 4);
  let past: CameraPast = emptyPast();
  for (let index = 0; index < 60; index += 1) {
    const grey = street.slice();
    grey.fill(255, 17 * index, 17 * index + 60);
    const look = { grey, sharpness: 1 };
    past = withLook(past, index * 600, look, measure(past, look, null));
  }
  const view = fromText(past.views[0]!.grey);
  const expected = inEvenLight(street);
  const far = view.map((level, cell) => Math.abs(level - expected[cell]!));
  expect(Math.max(...far)).toBeLessThan(40);
});

test('the usual gaps are the median, and the second longest of the last days', () => {
  let past = emptyPast();
  for (let day = 0; day < 20; day += 1) {
    for (const gap of [600, 600, day === 19 ? 90_000 : 30_000])
      past = withGap(past, day * DAY, gap);
  }
  expect(usualGaps(past)).toEqual({ median: 600, rest: 30_000 });
  expect(past.longest).toHaveLength(14);
  expect(past.gaps).toHaveLength(31);
});

test('an hour is learnt for its hour of the week and of the day', () => {
  const found = { hour: 168 + 30, pictures: 6, boxes: 24, confidence: 3, confident: 4 };
  const past = withHour(emptyPast(), found);
  expect(countsOf(past, 30)).toEqual([1, 2, 0]);
  expect(hourRow(past, 6).confidence).toEqual([1, 0.75, 0]);
});
