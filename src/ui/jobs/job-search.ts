/** Which jobs are listed, and in which order: read from the address, sent to the service. */
import { JOB_STATUSES } from '../../api/jobs.js';
import type { JobFilter, JobStatus } from '../../client/records.js';
import type { Query } from '../address/address.js';

/** The service ends a job that is cancelled as failed. */
export const STATE_NAMES: Record<JobStatus['status'], string> = {
  pending: 'Pending',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed or cancelled',
};

/** The first is that of an address without one. */
export const SORTS = [
  ['submitted', 'Newest first'],
  ['-submitted', 'Oldest first'],
  ['ended', 'Ended last'],
  ['name', 'Title, A to Z'],
  ['-name', 'Title, Z to A'],
] as const satisfies readonly [JobFilter['sort'], string][];

/** Empty: any. */
export interface JobSearch {
  state: JobStatus['status'] | null;
  /** Words. */
  q: string;
  tag: string;
  /** The name of the watch that made the jobs. */
  watch: string;
  model: string;
  sort: (typeof SORTS)[number][0];
}

/** The service takes no more. */
export const MOST_SEARCHED = 200;

export function readSearch(query: Query): JobSearch {
  const { state, q = '', tag = '', watch = '', model = '', sort } = query;
  return {
    state: JOB_STATUSES.find((each) => each === state) ?? null,
    q: q.slice(0, MOST_SEARCHED).trim(),
    tag,
    watch,
    model,
    sort: SORTS.find(([each]) => each === sort)?.[0] ?? 'submitted',
  };
}

export const ALL_JOBS = readSearch({});

/** As it stands in the address. */
export function searchQuery({ state, sort, ...texts }: JobSearch): Query {
  return { ...texts, state: state ?? '', sort: sort === 'submitted' ? '' : sort };
}

/** Every new job comes first. */
export function isNewestFirst({ q, tag, watch, model, sort }: JobSearch): boolean {
  return sort === 'submitted' && q + tag + watch + model === '';
}

/** `No failed job with "gate" and the tag north`. */
export function nothingFound({ state, q, tag, watch, model }: JobSearch): string {
  const conditions = [
    q === '' ? '' : `with “${q}”`,
    tag === '' ? '' : `with the tag ${tag}`,
    watch === '' ? '' : `of the watch ${watch}`,
    model === '' ? '' : `of the model ${model}`,
  ];
  return [
    state === null ? 'No job' : `No ${STATE_NAMES[state].toLowerCase()} job`,
    ...conditions.filter((each) => each !== ''),
  ].join(' ');
}
