import { expect, test } from 'vitest';
import {
  imagesQuery,
  isFiltered,
  passingBoxes,
  queryOf,
  readFilter,
  withClass,
} from '../../../src/ui/job/image-filter.js';

test('a filter is read from the address and written there again', () => {
  const query = { outcome: 'found', class: 'car,bus', below: '40' };
  const filter = readFilter(query);
  expect(filter).toEqual({ outcome: 'found', classes: ['car', 'bus'], below: 40 });
  expect(queryOf(filter)).toEqual(query);
  expect(isFiltered(filter)).toBe(true);
});

test.each([
  {},
  { outcome: 'x' },
  { class: '' },
  { below: '0' },
  { below: '100' },
  { below: '1.5' },
])('%j is no filter', (query) => {
  expect(isFiltered(readFilter(query))).toBe(false);
});

test('a filter is sent as the service understands it', () => {
  const filter = readFilter({ outcome: 'failed', class: 'a b', below: '35' });
  expect(imagesQuery(filter)).toEqual({
    outcome: 'failed',
    class: ['a b'],
    confidence_below: 0.35,
  });
  expect(imagesQuery(readFilter({}))).toEqual({});
});

test('classes are switched on and off one by one', () => {
  const one = withClass(readFilter({}), 'bus');
  const two = withClass(readFilter(one), 'a, b');
  expect(readFilter(two).classes).toEqual(['bus', 'a, b']);
  expect(withClass(readFilter(two), 'a, b')).toEqual(one);
  expect(withClass(readFilter(one), 'bus')).toEqual({ class: '' });
});

test('a box passes by its class and its confidence together', () => {
  const boxes = [
    { class: 'bus', confidence: 0.9 },
    { class: 'car', confidence: 0.3 },
    { class: 'bus', confidence: 0.35 },
    { class: 'bus', confidence: 0.34 },
  ];
  const passing = (query: Record<string, string>) =>
    passingBoxes(boxes, readFilter(query)).map((box) => boxes.indexOf(box));
  expect(passing({})).toEqual([0, 1, 2, 3]);
  expect(passing({ class: 'bus' })).toEqual([0, 2, 3]);
  expect(passing({ class: 'bus', below: '35' })).toEqual([3]);
  expect(passing({ class: 'bus,car', below: '35' })).toEqual([1, 3]);
});
