import { expect, test } from 'vitest';
import { bySureness, cropsOf, leastCertain } from '../../../src/ui/job/box-crops.js';
import { readFilter } from '../../../src/ui/job/image-filter.js';
import { toWireImage } from '../../../src/answers/processed-image.js';
import { okOutcome } from '../../support/outcomes.js';

const histogram = (counts: Record<number, number>) =>
  Array.from({ length: 20 }, (_, step) => counts[step] ?? 0);
const summary = {
  classes: [
    { class: 'car', boxes: 60, confidence_histogram: histogram({ 5: 10, 6: 20, 18: 30 }) },
    { class: 'bus', boxes: 9, confidence_histogram: histogram({ 5: 4, 12: 5 }) },
  ],
};

test('so many steps of the histogram are read as stay below the most boxes, at least one', () => {
  const of = (query: Record<string, string>, most: number) =>
    leastCertain(summary, readFilter(query), most);
  expect(of({}, 100)).toEqual({ below: 1, boxes: 69, all: 69 });
  expect(of({}, 40)).toEqual({ below: 0.9, boxes: 39, all: 69 });
  expect(of({}, 34)).toEqual({ below: 0.6, boxes: 34, all: 69 });
  expect(of({}, 1)).toEqual({ below: 0.3, boxes: 14, all: 69 });
  expect(of({ class: 'bus' }, 5)).toEqual({ below: 0.6, boxes: 4, all: 9 });
  expect(of({ below: '35' }, 100)).toEqual({ below: 0.35, boxes: 34, all: 34 });
});

test('there is one crop per box that passes, least certain first', () => {
  const outcome = okOutcome(['car', 'bus', 'car', 'truck']);
  if (outcome.status !== 'ok') throw new Error('It has boxes.');
  const image = (index: number) => ({
    index,
    image_path: `${index}.jpg`,
    status: 'ok' as const,
    worker_id: 'w',
    ...toWireImage(outcome),
  });
  const failed = { index: 2, image_path: 'x.jpg', status: 'pending' as const };
  const crops = (query: Record<string, string>, below: number) =>
    cropsOf([image(0), image(1), failed], readFilter(query), below)
      .sort(bySureness)
      .map(({ index, id }) => [index, id]);
  // 0.9, 0.8, 0.7 and 0.6 in each.
  expect(crops({ class: 'car,bus' }, 1)).toEqual([[0, 2], [1, 2], [0, 1], [1, 1], [0, 0], [1, 0]]); // prettier-ignore
  expect(crops({}, 0.75)).toEqual([[0, 3], [1, 3], [0, 2], [1, 2]]); // prettier-ignore
});
