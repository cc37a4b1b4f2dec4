import { expect, it } from 'vitest';
import type { KnownBox } from '../../../src/models/self-check/model-check.js';
import { partOfShape } from '../../../src/models/self-check/input-check.js';

const WIDTH = 96;
const HEIGHT = 72;
/** Each pixel tells its place. */
const picture = {
  width: WIDTH,
  height: HEIGHT,
  data: Uint8Array.from({ length: 3 * WIDTH * HEIGHT }, (_, i) => {
    const pixel = Math.floor(i / 3);
    return [pixel % WIDTH, Math.floor(pixel / WIDTH), 7][i % 3]!;
  }),
};
const car = (...box: KnownBox['box']): KnownBox => ({ class: 'car', box });

it.each([
  ['wide', { width: 640, height: 384 }, { width: 96, height: 57 }],
  ['upright', { width: 480, height: 640 }, { width: 54, height: 72 }],
  ['square', { width: 640, height: 640 }, { width: 72, height: 72 }],
  ['its own', { width: 640, height: 480 }, { width: 96, height: 72 }],
  ['narrow', { width: 32, height: 640 }, { width: 3, height: 72 }],
])('is as large as it gets: %s', (_name, shape, size) => {
  expect(partOfShape({ picture, boxes: [] }, shape).picture).toMatchObject(size);
});

it('lies about the largest box, and within the picture', () => {
  const shape = { width: 640, height: 640 };
  const leftOf = (box: KnownBox) =>
    partOfShape({ picture, boxes: [car(90, 0, 95, 5), box] }, shape).picture.data[0];
  expect(leftOf(car(30, 0, 70, 40))).toBe(14);
  expect(leftOf(car(0, 0, 40, 40))).toBe(0);
  expect(leftOf(car(60, 0, 96, 40))).toBe(24);
});

it('has the pixels of its place, and the boxes that it holds as a whole', () => {
  const boxes = [car(30, 10, 70, 40), car(14, 0, 20, 9), car(10, 0, 20, 9), car(80, 0, 87, 9)];
  const part = partOfShape({ picture, boxes }, { width: 640, height: 640 });
  expect(part.boxes).toEqual([car(16, 10, 56, 40), car(0, 0, 6, 9)]);
  const { data, width, height } = part.picture;
  expect(data).toHaveLength(3 * width * height);
  const last = 3 * (width * height - 1);
  expect([...data.slice(0, 3)]).toEqual([14, 0, 7]);
  expect([...data.slice(last)]).toEqual([85, 71, 7]);
});
