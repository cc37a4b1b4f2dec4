import { expect, test } from 'vitest';
import {
  MOST_ZOOM,
  WHOLE,
  boxAt,
  moved,
  onScreen,
  windowOn,
  zoomedAt,
} from '../../../src/ui/picture/view-window.js';

const STAGE = { width: 800, height: 600 };
const PICTURE = { width: 1600, height: 1200 };

test('what lies under the pointer stays there', () => {
  const at = { x: 300, y: 200 };
  const once = zoomedAt(WHOLE, 2, at, STAGE);
  expect(once).toEqual({ zoom: 2, x: -300, y: -200 });
  expect(zoomedAt(once, 0.5, at, STAGE)).toEqual({ zoom: 1, x: 0, y: 0 });
});

test('the picture never leaves the stage, nor gets smaller or too large', () => {
  expect(zoomedAt(WHOLE, 0.1, { x: 9, y: 9 }, STAGE)).toEqual(WHOLE);
  expect(zoomedAt(WHOLE, 1e6, { x: 0, y: 0 }, STAGE).zoom).toBe(MOST_ZOOM);
  const zoomed = zoomedAt(WHOLE, 2, { x: 0, y: 0 }, STAGE);
  expect(moved(zoomed, 500, 500, STAGE)).toEqual({ zoom: 2, x: 0, y: 0 });
  expect(moved(zoomed, -5_000, -5_000, STAGE)).toEqual({ zoom: 2, x: -800, y: -600 });
});

test('a box is shown in the middle with room around it', () => {
  const rect = onScreen([800, 600, 960, 720], PICTURE, STAGE, WHOLE);
  expect(rect).toEqual({ x: 400, y: 300, width: 80, height: 60 });
  const shown = onScreen([800, 600, 960, 720], PICTURE, STAGE, windowOn(rect, STAGE));
  expect(shown.width).toBeCloseTo(480);
  expect(shown.x + shown.width / 2).toBeCloseTo(400);
  expect(shown.y + shown.height / 2).toBeCloseTo(300);
});

test('of several boxes under the pointer the smallest is meant', () => {
  const rects = [
    { x: 0, y: 0, width: 100, height: 100 },
    { x: 40, y: 40, width: 20, height: 20 },
    { x: 30, y: 30, width: 60, height: 60 },
  ];
  expect([boxAt({ x: 50, y: 50 }, rects), boxAt({ x: 80, y: 80 }, rects)]).toEqual([1, 2]);
  expect([boxAt({ x: 5, y: 5 }, rects), boxAt({ x: 101, y: 5 }, rects)]).toEqual([0, null]);
});
