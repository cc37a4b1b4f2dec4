/**
 * Filters of the list of jobs. A filter is one row: the parameters of the query, the condition of the store, the flags
 * of the CLI and the page are derived from it. Plain data, so that the page can read it in a browser.
 */
import { LABELS } from './job-labels.js';
import { JOB_STATUSES, JOB_TYPES } from './jobs.js';
import { rowsOf, type WireName } from './rows.js';

interface FilterText {
  /** Over HTTP, where it is not the name here in snake_case. */
  wireName?: string;
  /** For the OpenAPI document and the help of the CLI: which jobs pass. */
  text: string;
  /** As the CLI writes it; without one it has no such flag. */
  flag?: string;
  /** Without it the page does not offer the filter. */
  page?: FilterPage;
}

type FilterKind =
  /** Some of these. */
  | { kind: 'several'; values: readonly string[] }
  | { kind: 'one'; values: readonly string[] }
  | { kind: 'name'; most: number }
  | { kind: 'model' }
  /** In any letter case. */
  | { kind: 'tag'; most: number }
  /** Each of these words or parts of words, in any letter case. */
  | { kind: 'words'; most: number }
  /** Unix seconds. */
  | { kind: 'after' }
  | { kind: 'before' };

/** `%` stands for the value. */
export type FilterPage = {
  /** In the address of the page. */
  name: string;
  /** On the control. */
  label: string;
  /** Ends a sentence about the jobs that pass. */
  those: string;
} & (
  | { control: 'words' }
  /** `all`: the choice of any value. */
  | { control: 'choice'; all: string }
  /** Links set it and a button drops it; `others`: which jobs it shows then too. */
  | { control: 'chip'; others: string }
);

/** `column`: of `job_listings` or of `jobs`. */
interface FilterColumn {
  column: string;
  isListed?: true;
}

export const FILTERS = {
  status: {
    kind: 'several',
    values: JOB_STATUSES,
    column: 'status',
    text: `Jobs in one of these states, separated by commas: ${JOB_STATUSES.join(', ')}`,
    flag: '-s, --status <names>',
  },
  jobType: {
    kind: 'one',
    values: JOB_TYPES,
    column: 'job_type',
    text: 'Jobs of this type',
    flag: '-t, --type <type>',
  },
  words: {
    wireName: 'q',
    kind: 'words',
    most: 200,
    column: 'text',
    isListed: true,
    text: 'Jobs that have each of these words, or parts of words, in their name, typed paths, tags, notes or the title of their metadata, in any letter case',
    flag: '-q, --search <words>',
    page: {
      control: 'words',
      name: 'q',
      label: 'Search jobs',
      those: 'with “%”',
    },
  },
  tag: {
    kind: 'tag',
    most: LABELS.tags.longest,
    column: 'marked_tags',
    isListed: true,
    text: 'Jobs with this tag, in any letter case',
    flag: '--tag <name>',
    page: {
      control: 'chip',
      name: 'tag',
      label: '%',
      those: 'with the tag %',
      others: 'jobs without the tag %',
    },
  },
  watch: {
    kind: 'name',
    most: 64,
    column: 'watch',
    text: 'Jobs that this watch made',
    flag: '--watch <name>',
    page: {
      control: 'chip',
      name: 'watch',
      label: 'Watch %',
      those: 'of the watch %',
      others: 'jobs that the watch % did not make',
    },
  },
  modelName: {
    kind: 'model',
    column: 'model',
    isListed: true,
    text: 'Jobs of this model, with or without .pt',
    flag: '-m, --model <name>',
    page: {
      control: 'choice',
      name: 'model',
      label: 'Model',
      all: 'All models',
      those: 'of the model %',
    },
  },
  submittedAfter: { kind: 'after', column: 'submitted_at', text: 'Unix seconds' },
  submittedBefore: { kind: 'before', column: 'submitted_at', text: 'Unix seconds' },
} as const satisfies Record<string, FilterText & FilterKind & FilterColumn>;

type Rows = typeof FILTERS;
type Name = keyof Rows;
type Value<Row> = Row extends { kind: 'several'; values: readonly (infer Each)[] }
  ? Each[]
  : Row extends { kind: 'one'; values: readonly (infer Each)[] }
    ? Each
    : Row extends { kind: 'words' }
      ? readonly string[]
      : Row extends { kind: 'after' | 'before' }
        ? number
        : string;

type FilterValues = { [Key in Name]?: Value<Rows[Key]> | undefined };
/** As HTTP names them. */
export type WireFilter = { [Key in Name as WireName<Rows[Key], Key>]: Value<Rows[Key]> };

/** Filters of a list: a job passes if it passes each given one and is of the key; null: of any key. */
export type JobFilter = FilterValues & { keyId?: string | null };

export type FilterRow = FilterText &
  FilterKind &
  FilterColumn & { name: Name; wireName: keyof WireFilter };

export const FILTER_ROWS = rowsOf(FILTERS) as readonly FilterRow[];

/** From a query; its other fields are left out. */
export const readFilter = (query: {
  [Key in keyof WireFilter]?: WireFilter[Key] | undefined;
}): FilterValues =>
  Object.fromEntries(FILTER_ROWS.map(({ name, wireName }) => [name, query[wireName]]));

type PageNames = {
  [Key in Name]: Rows[Key] extends { page: { name: infer InAddress extends string } }
    ? InAddress
    : never;
}[Name];
/** Filters of the page, as texts by the names in its address; empty: any. */
export type PageFilter = Record<PageNames, string>;
