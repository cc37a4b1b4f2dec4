/** Which jobs are listed, and in which order: read from the address, sent to the service. */
import {
  FILTER_ROWS,
  type FilterPage,
  type FilterRow,
  type PageFilter,
} from '../../api/job-filters.js';
import { JOB_STATUSES } from '../../api/job-values.js';
import type { JobFilter, JobStatus } from '../../client/records.js';
import type { Query } from '../address/address.js';

/** The service ends a job that is cancelled as failed. */
export const STATE_NAMES: Record<JobStatus['status'], string> = {
  pending: 'Pending',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed or cancelled',
};

/** The orders of the list. An address without one has the first. */
export const SORTS = [
  ['submitted', 'Newest first'],
  ['-submitted', 'Oldest first'],
  ['ended', 'Ended last'],
  ['name', 'Title, A to Z'],
  ['-name', 'Title, Z to A'],
] as const satisfies readonly [JobFilter['sort'], string][];

export interface JobSearch extends PageFilter {
  /** Null: any. */
  state: JobStatus['status'] | null;
  sort: (typeof SORTS)[number][0];
}

export type SearchRow = FilterRow & { page: FilterPage & { name: keyof PageFilter } };

export const SEARCH_ROWS = FILTER_ROWS.filter((row): row is SearchRow => row.page !== undefined);

export function readSearch(query: Query): JobSearch {
  const texts = SEARCH_ROWS.map((row) => {
    const text = query[row.page.name] ?? '';
    // The service takes no more.
    return [row.page.name, row.kind === 'words' ? text.slice(0, row.most).trim() : text];
  });
  return {
    ...(Object.fromEntries(texts) as PageFilter),
    state: JOB_STATUSES.find((each) => each === query.state) ?? null,
    sort: SORTS.find(([each]) => each === query.sort)?.[0] ?? 'submitted',
  };
}

export const ALL_JOBS = readSearch({});

/** The search as the query of the page's address. */
export function searchQuery({ state, sort, ...texts }: JobSearch): Query {
  return { ...texts, state: state ?? '', sort: sort === 'submitted' ? '' : sort };
}

const givenRows = (search: JobSearch): SearchRow[] =>
  SEARCH_ROWS.filter(({ page }) => search[page.name] !== '');

/** The search as the filter of the service's list. */
export function searchFilter(search: JobSearch): JobFilter {
  const { state, sort } = search;
  const texts = givenRows(search).map(({ page, wireName }) => [wireName, search[page.name]]);
  return {
    ...(state === null ? {} : { status: [state] }),
    ...(Object.fromEntries(texts) as JobFilter),
    sort,
  };
}

/** Every new job comes first. */
export const isNewestFirst = (search: JobSearch): boolean =>
  search.sort === 'submitted' && givenRows(search).length === 0;

/** The words of a row about a value. */
export const withValue = (words: string, value: string): string => words.replace('%', () => value);

/** `No failed job with "gate" and the tag north`. */
export function nothingFound(search: JobSearch): string {
  const { state } = search;
  return [
    state === null ? 'No job' : `No ${STATE_NAMES[state].toLowerCase()} job`,
    ...givenRows(search).map(({ page }) => withValue(page.phrase, search[page.name])),
  ].join(' ');
}
