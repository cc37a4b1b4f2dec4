import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FILTERS } from '../../../src/api/job-filters.js';
import { JOB_STATUSES } from '../../../src/api/job-values.js';
import {
  ALL_JOBS,
  isNewestFirst,
  nothingFound,
  readSearch,
  searchQuery,
  SORTS,
  type JobSearch,
} from '../../../src/ui/jobs/job-search.js';

const text = fc.string({ maxLength: 40 });
const searches: fc.Arbitrary<JobSearch> = fc.record({
  state: fc.constantFrom(null, ...JOB_STATUSES),
  q: text.map((words) => words.trim()),
  tag: text,
  watch: text,
  model: text,
  sort: fc.constantFrom(...SORTS.map(([sort]) => sort)),
});

test('any search comes back from its address', () => {
  fc.assert(
    fc.property(searches, (search) => {
      expect(readSearch(searchQuery(search))).toEqual(search);
    }),
  );
});

test('an address that people have changed asks for nothing that the service refuses', () => {
  const search = readSearch({ state: 'lost', sort: 'size', q: ` ${'a'.repeat(999)}` });
  expect(search).toMatchObject({ state: null, sort: 'submitted' });
  expect(search.q.length).toBeLessThanOrEqual(FILTERS.words.most);
});

test('a new job is first only where nothing is searched', () => {
  expect(isNewestFirst(ALL_JOBS)).toBe(true);
  expect(isNewestFirst({ ...ALL_JOBS, state: 'running' })).toBe(true);
  expect(isNewestFirst({ ...ALL_JOBS, tag: 'gate' })).toBe(false);
  expect(isNewestFirst({ ...ALL_JOBS, watch: 'north' })).toBe(false);
  expect(isNewestFirst({ ...ALL_JOBS, sort: 'name' })).toBe(false);
});

test('what was searched is said in a sentence', () => {
  expect(nothingFound({ ...ALL_JOBS, q: 'gate', model: 'a.pt' })).toBe(
    'No job with “gate” of the model a.pt',
  );
  expect(nothingFound({ ...ALL_JOBS, state: 'failed', tag: 'gate' })).toBe(
    'No failed or cancelled job with the tag gate',
  );
  expect(nothingFound({ ...ALL_JOBS, watch: 'north' })).toBe('No job of the watch north');
});
