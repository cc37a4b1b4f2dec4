/** Which boxes lie over a dismissed place. */
import { expect, test } from 'vitest';
import { dismissalOf } from '../../src/cameras/dismissal.js';

const SIZE = { width: 100, height: 50 };
const place = { group: 'vehicle', box: [10, 10, 30, 20] as const, ...SIZE };

test('a box of the class group that overlaps enough is of the place, at any size of the picture', () => {
  const isOver = (name: string, box: [number, number, number, number], size = SIZE) =>
    dismissalOf([place], { class: name, box }, size) !== undefined;
  expect(isOver('car', [10, 10, 30, 20])).toBe(true);
  expect(isOver('Truck', [12, 10, 32, 20])).toBe(true);
  expect(isOver('bicycle', [10, 10, 30, 20])).toBe(false);
  expect(isOver('car', [22, 10, 42, 20])).toBe(false);
  expect(isOver('car', [20, 20, 60, 40], { width: 200, height: 100 })).toBe(true);
  expect(isOver('car', [10, 10, 30, 20], { width: 200, height: 100 })).toBe(false);
  // A picture of another form shows another view.
  expect(isOver('car', [10, 10, 30, 20], { width: 100, height: 100 })).toBe(false);
});
