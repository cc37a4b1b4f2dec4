import { expect, test } from 'vitest';
import {
  differenceOf,
  edgesOf,
  inEvenLight,
  levelsOf,
  likenessOf,
  LOOK_CELLS,
  LOOK_SIDE,
} from '../../src/cameras/picture-look.js';
import { randomNumbers } from '../support/random-numbers.js';

/** Blocks of four cells, of levels from 40 to 140. */
function scene(seed: number): Uint8Array {
  const random = randomNumbers(seed);
  const blocks = Array.from({ length: 64 }, () => 40 + 100 * random());
  return Uint8Array.from(
    { length: LOOK_CELLS },
    (_, cell) => blocks[8 * Math.floor(cell / LOOK_SIDE / 4) + Math.floor((cell % LOOK_SIDE) / 4)]!,
  );
}
const likeness = (first: Uint8Array, second: Uint8Array) =>
  likenessOf(edgesOf(inEvenLight(first)), edgesOf(inEvenLight(second)));

test('levels and differences are in levels of a cell', () => {
  const halves = Uint8Array.from({ length: LOOK_CELLS }, (_, cell) => (cell % 2 === 0 ? 10 : 30));
  expect(levelsOf(halves)).toEqual({ brightness: 20, spread: 10 });
  expect(differenceOf(halves, halves)).toBe(0);
  expect(
    differenceOf(
      halves,
      halves.map((level) => level + 3),
    ),
  ).toBe(3);
});

test('a view is like itself in any light, and unlike another one', () => {
  const view = scene(1);
  expect(likeness(view, view)).toBeCloseTo(1);
  expect(
    likeness(
      view,
      view.map((level) => 0.3 * level + 20),
    ),
  ).toBeGreaterThan(0.9);
  expect(Math.abs(likeness(view, scene(2)))).toBeLessThan(0.3);
  const turned = view.map((_, cell) => view[(cell + 5) % LOOK_CELLS]!);
  expect(likeness(view, turned)).toBeLessThan(0.4);
});

test('a picture of one colour is like nothing', () => {
  const flat = new Uint8Array(LOOK_CELLS).fill(7);
  expect(inEvenLight(flat)).toEqual(new Uint8Array(LOOK_CELLS).fill(128));
  expect(likeness(flat, scene(1))).toBe(0);
});
