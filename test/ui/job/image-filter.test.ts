import { expect, test } from 'vitest';
import { imagesQuery, isFiltered, queryOf, readFilter } from '../../../src/ui/job/image-filter.js';

test('a filter is read from the address and written there again', () => {
  const query = { outcome: 'found', class: 'car', below: '40' };
  const filter = readFilter(query);
  expect(filter).toEqual({ outcome: 'found', className: 'car', below: 40 });
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
    class: 'a b',
    confidence_below: 0.35,
  });
});
