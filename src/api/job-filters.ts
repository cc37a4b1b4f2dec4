/**
 * Filters of the list of jobs. A filter is one row: the parameters of the query, the condition of the store, the flags
 * of the CLI and the page are derived from it. Plain data, so that the page can read it in a browser.
 */
import { LABELS } from './job-labels.js';
import { JOB_STATUSES, JOB_TYPES } from './job-values.js';
import { rowsOf, type WireName } from './rows.js';

interface FilterText {
  /** Name of the parameter over HTTP. Absent: the key of the row in snake_case. */
  wireName?: string;
  /** Which jobs pass, for the OpenAPI document and the help of the CLI. */
  text: string;
  /** The flag as commander parses it. Absent: the CLI has no flag for this filter. */
  flag?: string;
  /** Absent: the page does not offer the filter. */
  page?: FilterPage;
}

/** How a job passes. `most`: the longest accepted text, in characters. */
type FilterKind =
  /** The job has one of the listed values. */
  | { kind: 'several'; values: readonly string[] }
  /** The job has the given value, which is one of `values`. */
  | { kind: 'one'; values: readonly string[] }
  /** The job has exactly this text. */
  | { kind: 'name'; most: number }
  /** A model name, with or without `.pt`. */
  | { kind: 'model' }
  /** The job has this tag, in any letter case. */
  | { kind: 'tag'; most: number }
  /** The text of the job has each of these words or parts of words, in any letter case. */
  | { kind: 'words'; most: number }
  /** The time of the job is later than this one, in Unix seconds; an equal time does not pass. */
  | { kind: 'after' }
  /** The time of the job is earlier than this one, in Unix seconds; an equal time does not pass. */
  | { kind: 'before' };

/** How the page offers a filter. In its texts `%` stands for the value. */
export type FilterPage = {
  /** Name of the filter in the address of the page. */
  name: string;
  /** Text of the control. */
  label: string;
  /** Ends a sentence about the jobs that pass. */
  phrase: string;
} & (
  | { control: 'words' }
  /** `all`: text of the choice that lets every value pass. */
  | { control: 'choice'; all: string }
  /** Links set the filter and a button drops it. `phraseWithout`: the jobs that the list shows then too. */
  | { control: 'chip'; phraseWithout: string }
);

interface FilterColumn {
  column: string;
  /** True: `column` is in the table `job_listings`. Absent: in `jobs`. */
  inListings?: true;
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
    inListings: true,
    text: 'Jobs that have each of these words, or parts of words, in their name, typed paths, tags, notes or the title of their metadata, in any letter case',
    flag: '-q, --search <words>',
    page: {
      control: 'words',
      name: 'q',
      label: 'Search jobs',
      phrase: 'with “%”',
    },
  },
  tag: {
    kind: 'tag',
    most: LABELS.tags.longest,
    column: 'marked_tags',
    inListings: true,
    text: 'Jobs with this tag, in any letter case',
    flag: '--tag <name>',
    page: {
      control: 'chip',
      name: 'tag',
      label: '%',
      phrase: 'with the tag %',
      phraseWithout: 'jobs without the tag %',
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
      phrase: 'of the watch %',
      phraseWithout: 'jobs that the watch % did not make',
    },
  },
  modelName: {
    kind: 'model',
    column: 'model',
    inListings: true,
    text: 'Jobs of this model, with or without .pt',
    flag: '-m, --model <name>',
    page: {
      control: 'choice',
      name: 'model',
      label: 'Model',
      all: 'All models',
      phrase: 'of the model %',
    },
  },
  submittedAfter: {
    kind: 'after',
    column: 'submitted_at',
    text: 'Jobs submitted after this time (exclusive), in Unix seconds',
  },
  submittedBefore: {
    kind: 'before',
    column: 'submitted_at',
    text: 'Jobs submitted before this time (exclusive), in Unix seconds',
  },
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
/** The filters by their HTTP names. */
export type WireFilter = { [Key in Name as WireName<Rows[Key], Key>]: Value<Rows[Key]> };

/** A job passes if it passes every given filter and belongs to `keyId`. Null or absent: the jobs of every key. */
export type JobFilter = FilterValues & { keyId?: string | null };

export type FilterRow = FilterText &
  FilterKind &
  FilterColumn & { name: Name; wireName: keyof WireFilter };

export const FILTER_ROWS = rowsOf(FILTERS) as readonly FilterRow[];

/** Takes the filters out of a query and ignores its other fields. */
export const readFilter = (query: {
  [Key in keyof WireFilter]?: WireFilter[Key] | undefined;
}): FilterValues =>
  Object.fromEntries(FILTER_ROWS.map(({ name, wireName }) => [name, query[wireName]]));

type PageNames = {
  [Key in Name]: Rows[Key] extends { page: { name: infer InAddress extends string } }
    ? InAddress
    : never;
}[Name];
/** Texts of the page's filters by their names in its address. An empty text lets every job pass. */
export type PageFilter = Record<PageNames, string>;
