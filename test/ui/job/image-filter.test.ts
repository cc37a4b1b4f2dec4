import { expect, test } from 'vitest';
import { imagesRoute, isFiltered, queryOf, readFilter } from '../../../src/ui/job/image-filter.js';

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

test('the route of a page names what the service understands', () => {
  const filter = readFilter({ outcome: 'failed', class: 'a b', below: '35' });
  const route = new URL(imagesRoute('job/1', filter, { offset: 60, limit: 30 }), 'http://h');
  expect(route.pathname).toBe('/v1/jobs/job%2F1/images');
  expect(Object.fromEntries(route.searchParams)).toEqual({
    offset: '60',
    limit: '30',
    outcome: 'failed',
    class: 'a b',
    confidence_below: '0.35',
  });
});
