import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  hashOf,
  listOf,
  listText,
  readAddress,
  type Route,
} from '../../../src/ui/address/address.js';

test.each<[string, Route]>([
  ['', { screen: 'detect' }],
  ['#/detect', { screen: 'detect' }],
  ['#/jobs', { screen: 'jobs' }],
  ['#jobs', { screen: 'jobs' }],
  ['#/jobs/job_A-1', { screen: 'job', jobId: 'job_A-1' }],
  ['#/jobs/a%2Fb', { screen: 'job', jobId: 'a/b' }],
  ['#/jobs/100%', { screen: 'job', jobId: '100%' }],
  ['#/jobs/job_A/images/17', { screen: 'image', jobId: 'job_A', index: 17 }],
  ['#/jobs/job_A/images/x', { screen: 'job', jobId: 'job_A' }],
  ['#/service', { screen: 'service' }],
  ['#/watches', { screen: 'watches' }],
  ['#/counts', { screen: 'counts' }],
  ['#/nowhere', { screen: 'detect' }],
])('%s', (hash, route) => {
  expect(readAddress(hash)).toEqual({ route, query: {} });
});

test('filters come with the view, empty ones are left out', () => {
  const hash = hashOf(
    { screen: 'image', jobId: 'a/b', index: 3 },
    { min: '40', hide: 'bus,"x"', q: '' },
  );
  expect(hash).toBe('#/jobs/a%2Fb/images/3?min=40&hide=bus%2C%22x%22');
  expect(readAddress(hash)).toEqual({
    route: { screen: 'image', jobId: 'a/b', index: 3 },
    query: { min: '40', hide: 'bus,"x"' },
  });
});

test('a path with a question mark and an equals sign survives', () => {
  const query = { path: '2026/a?b=c&d #1.jpg' };
  expect(readAddress(hashOf({ screen: 'detect' }, query)).query).toEqual(query);
});

test('any names come back from a list in an address', () => {
  const name = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('car', 'a,b', '[x', '"'));
  fc.assert(
    fc.property(fc.array(name), (names) => {
      const { query } = readAddress(hashOf({ screen: 'detect' }, { hide: listText(names) }));
      expect(listOf(query.hide)).toEqual(names);
    }),
  );
  expect([listOf(undefined), listOf(''), listOf('[car')]).toEqual([[], [], ['[car']]);
});
