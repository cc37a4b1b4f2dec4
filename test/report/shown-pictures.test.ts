import { expect, test } from 'vitest';
import { AlmostPictures, SurePictures } from '../../src/report/shown-pictures.js';
import type { Detection } from '../../src/api/schemas/image.js';
import type { ImageEntry } from '../../src/store/job.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';

const box = (name: string, confidence: number): Detection => ({
  box: [1, 2, 3, 4],
  confidence,
  class: name,
});

function image(index: number, detections: Detection[]): ImageEntry {
  return { index, path: `${index}.jpg`, outcome: { ...okOutcome(), detections } as never };
}

const THRESHOLDS = { confidence: 0.5, classThresholds: { bus: 0.3 } };

test('the surest come first, and those nearest to their own threshold', () => {
  const pictures = new SurePictures(THRESHOLDS);
  pictures.add(image(0, [box('car', 0.6)]));
  pictures.add(image(1, [box('car', 0.95), box('car', 0.9)]));
  pictures.add(image(2, [box('car', 0.8), box('bus', 0.31)]));
  pictures.add(image(3, []));
  pictures.add({ index: 4, path: '4.jpg', outcome: errorOutcome('invalid_image') });
  pictures.add({ index: 5, path: '5.jpg', outcome: null });
  const { surest, leastSure } = pictures.chosen;
  expect(surest.map(({ index }) => index)).toEqual([1, 2, 0]);
  expect(leastSure.map(({ index }) => index)).toEqual([2, 0, 1]);
  expect(leastSure[0]).toMatchObject({ chosen: { class: 'bus' }, threshold: 0.3 });
  expect(leastSure[0]?.boxes).toHaveLength(2);
});

test('however many images there are, a few are kept: the first of equals', () => {
  const pictures = new SurePictures(THRESHOLDS);
  const almost = new AlmostPictures(THRESHOLDS);
  for (let index = 0; index < 1_000; index += 1) {
    pictures.add(image(index, [box('car', 0.6 + (index % 10) / 100)]));
    almost.add(image(index, [box('car', 0.4 + (index % 10) / 100)]));
  }
  const { surest, leastSure } = pictures.chosen;
  const indexes = (kind: readonly { index: number }[]) => kind.map(({ index }) => index);
  expect(indexes(surest)).toEqual([9, 19, 29, 39, 49, 59, 69, 79]);
  expect(indexes(leastSure)).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
  expect(indexes(almost.chosen)).toEqual([9, 19, 29, 39, 49, 59, 69, 79]);
});

test('almost detections are boxes just below the threshold of their class', () => {
  const almost = new AlmostPictures(THRESHOLDS);
  almost.add(image(0, [box('car', 0.9), box('car', 0.45), box('car', 0.4), box('car', 0.2)]));
  almost.add(image(1, [box('bus', 0.45)]));
  almost.add(image(2, [box('bus', 0.29)]));
  almost.add(image(3, [box('car', 0.1)]));
  expect(almost.chosen.map(({ index }) => index)).toEqual([2, 0]);
  expect(almost.chosen[1]?.boxes.map(({ confidence }) => confidence)).toEqual([0.45, 0.4]);
  expect(almost.chosen[1]?.chosen.confidence).toBe(0.45);
});
