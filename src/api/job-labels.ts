/**
 * Labels that people set on a job: at its submission and at any time later. A label is one row: the fields of requests
 * and answers, the flags of the CLI and the empty values are derived from it. Plain data, so that the page can read it
 * in a browser.
 */

interface LabelText {
  /** Description in the OpenAPI document and in the help of the CLI. */
  text: string;
  /** Text next to the value on the page. */
  label: string;
  /** Flag of the CLI, where it is not the name. */
  flag?: string;
  /** A retry of the job has it too. */
  ofRetries?: true;
  /** Web pages of other origins may not give it at a submission: see `own-pages.ts`. */
  forOwnPages?: true;
}

type LabelKind =
  /** One line. */
  | { kind: 'line'; most: number }
  /** Short texts, each once. */
  | { kind: 'tags'; most: number; longest: number }
  | { kind: 'text'; most: number }
  /** True: until the job is deleted. A number: so many days from the request on. False: the retention time. */
  | { kind: 'keep'; mostDays: number };

export const LABELS = {
  name: {
    kind: 'line',
    most: 200,
    text: 'Name of the job, its title in lists',
    label: 'Name',
    ofRetries: true,
  },
  tags: {
    kind: 'tags',
    most: 20,
    longest: 50,
    text: 'Tags, by which jobs are found again',
    label: 'Tags',
    flag: 'tag',
    ofRetries: true,
  },
  notes: {
    kind: 'text',
    most: 10_000,
    text: 'Notes on the job',
    label: 'Notes',
  },
  keep: {
    kind: 'keep',
    mostDays: 36_500,
    text: 'Keep the results beyond the retention time: true until the job is deleted, a number for so many days from the request on. Nothing is removed earlier than without it',
    label: 'Keep',
    forOwnPages: true,
  },
} as const satisfies Record<string, LabelText & LabelKind>;

export type Keep = boolean | number;

interface Values {
  line: string | null;
  tags: readonly string[];
  text: string | null;
  keep: Keep;
}

type Rows = typeof LABELS;
export type LabelName = keyof Rows;
export type JobLabels = { [Name in LabelName]: Values[Rows[Name]['kind']] };
/** Labels of a request: one that is null or left out is empty. */
export type GivenLabels = { [Name in LabelName]?: JobLabels[Name] | null | undefined };

export type LabelRow = LabelText & LabelKind & { name: LabelName };

export const LABEL_ROWS = Object.entries(LABELS).map(([name, row]) => ({
  ...row,
  name,
})) as readonly LabelRow[];

const EMPTY: Values = { line: null, tags: [], text: null, keep: false };

const byName = (value: (row: LabelRow) => unknown) =>
  Object.fromEntries(LABEL_ROWS.map((row) => [row.name, value(row)])) as JobLabels;

export const NO_LABELS = byName(({ kind }) => EMPTY[kind]);

export const readLabels = (given: GivenLabels): JobLabels =>
  byName(({ name }) => given[name] ?? NO_LABELS[name]);

/** The given ones; null makes one empty. */
export function changedLabels(given: GivenLabels): Partial<JobLabels> {
  const labels = readLabels(given);
  const changed = LABEL_ROWS.filter(({ name }) => given[name] !== undefined);
  return Object.fromEntries(changed.map(({ name }) => [name, labels[name]]));
}

export const labelsOfRetry = (labels: JobLabels): JobLabels =>
  byName(({ name, ofRetries }) => (ofRetries === true ? labels : NO_LABELS)[name]);
