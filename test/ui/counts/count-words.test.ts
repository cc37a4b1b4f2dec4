import { expect, test } from 'vitest';
import {
  boxes,
  differenceText,
  eventTime,
  leftOutTexts,
  perImage,
  totalText,
} from '../../../src/ui/counts/count-words.js';
import { countsOf, groupOf, shownOf } from './answers.js';

const counts = countsOf([groupOf('a', { car: 5 }, 3)]);

test('sums in words', () => {
  expect([boxes(0), boxes(1), boxes(1_234)]).toEqual(['0 boxes', '1 box', '1,234 boxes']);
  const sum = { ...counts.total, images: 12, empty_images: 4, failed_images: 1 };
  expect(totalText(sum)).toBe('12 images, 4 without boxes, 1 failed');
  expect(totalText({ ...sum, images: 1, empty_images: 0, failed_images: 0 })).toBe('1 image');
  expect(perImage(sum, 22)).toBe('2');
  expect(perImage({ ...sum, failed_images: 12 }, 0)).toBeNull();
});

test.each([
  [72, 60, '12 more (+20 %) than 60'],
  [45, 60, '15 fewer (−25 %) than 60'],
  [60, 60, 'as many as before: 60'],
  [7, 0, '7 more than 0'],
  [0, 7, '7 fewer (−100 %) than 7'],
])('%i against %i: %s', (count, before, text) => {
  expect(differenceText(count, before)).toBe(text);
});

test('nothing is left out: nothing is said', () => {
  expect(leftOutTexts(counts, shownOf({}, counts))).toEqual([]);
});

test('each kind of image that the numbers leave out is said', () => {
  const some = {
    ...counts,
    ...{ pending_images: 2, not_run_images: 1, removed_images: 1_000, unanswered_images: 3 },
  };
  const everything = countsOf([]);
  everything.total.time_sources.none = 4;
  const own = { ...shownOf({}, some), everything };
  expect(leftOutTexts(some, own)).toEqual([
    '2 images not ended yet: not counted.',
    '1 image that had no turn before the job was cancelled: not counted.',
    '1,000 images whose results are removed: counted as their jobs asked.',
    '3 images whose boxes cannot answer this question: not counted. They need a new run.',
    '4 images without a time: in no range. All times count them too.',
  ]);
  for (const query of [{ view: 'gate' }, { min: '40' }]) {
    expect(leftOutTexts(some, shownOf(query, some))[2]).toMatch(/removed: not counted/);
  }
});

test.each([
  [null, null, 'No time'],
  ['2025-11-26T14:00:00', '2025-11-26T14:00:00', '2025-11-26 14:00:00'],
  ['2025-11-26T14:00:00', '2025-11-26T14:00:50', '2025-11-26 14:00:00 to 14:00:50'],
  [...['2025-11-26T23:59:50', '2025-11-27T00:00:20'], '2025-11-26 23:59:50 to 2025-11-27 00:00:20'],
] as const)('an event from %s to %s is told as %s', (group, last_time, text) => {
  expect(eventTime({ ...groupOf(group, {}), last_time })).toBe(text);
});

test('removed results are in no event', () => {
  const counts = countsOf([], { removed_images: 2 });
  const texts = leftOutTexts(counts, shownOf({ watch: 'north', by: 'event' }, counts));
  expect(texts).toEqual([
    expect.stringMatching(/^2 images whose results are removed: not counted/),
  ]);
});
