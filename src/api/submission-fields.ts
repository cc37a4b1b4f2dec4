/**
 * The fields of a submission beside its images, its options and its labels. A field is one row: the fields of requests,
 * the settings of a stored job and their defaults, the flags of the CLI and the form of the page are derived from it.
 * Plain data, so that the page can read it in a browser.
 */
import { TOP_PRIORITY } from './options.js';
import { rowsOf, type WireName } from './rows.js';

interface FieldText {
  /** For the OpenAPI document and the help of the CLI. */
  text: string;
  /** As the CLI writes it; without one it has no such flag. */
  flag?: string;
  /** On the page; without one its form has no such field. */
  label?: string;
  /** Web pages of other origins may not give it: see `own-pages.ts`. */
  forOwnPages?: true;
}

type FieldKind =
  /** A whole number from 0. */
  | { kind: 'number'; most: number; default: number }
  | { kind: 'choice'; values: readonly string[]; default: string }
  | { kind: 'switch'; default: false }
  /** An address that is called. */
  | { kind: 'address'; example: string; default: null };

const FIELDS = {
  priority: {
    kind: 'number',
    most: TOP_PRIORITY,
    default: 0,
    text: `${TOP_PRIORITY} is the most urgent`,
    flag: '-p, --priority <number>',
    label: `Priority, ${TOP_PRIORITY} is the most urgent`,
  },
  callbackUrl: {
    kind: 'address',
    example: 'https://example.org/hooks/detection',
    default: null,
    text: 'The result is POSTed here when the job ends',
    flag: '--callback-url <url>',
    label: 'Webhook: the result is sent here',
    forOwnPages: true,
  },
  annotate: {
    kind: 'switch',
    default: false,
    text: 'Also draw the boxes into a copy; see annotated_url',
    label: 'Keep drawn copies of the pictures',
    forOwnPages: true,
  },
  reuse: {
    kind: 'choice',
    values: ['off', 'unchanged', 'content'],
    default: 'off',
    text: 'Which images take over a stored result of an earlier job and do not run. unchanged: the file, the model, the options and the release are those of that result. content: the bytes of the file are, wherever it lies. Images of jobs with `annotate` always run',
    flag: '--reuse <which>',
  },
} as const satisfies Record<string, FieldText & FieldKind>;

type Rows = typeof FIELDS;
type Name = keyof Rows;
interface Values<Choice> {
  number: number;
  choice: Choice;
  switch: boolean;
  address: string | null;
}
type Value<Row extends { kind: keyof Values<unknown> }> = Values<
  Row extends { values: readonly (infer Choice)[] } ? Choice : never
>[Row['kind']];

export type SubmissionFields = { [Key in Name]: Value<Rows[Key]> };
/** As HTTP names them. */
export type WireFields = { [Key in Name as WireName<Rows[Key], Key>]: Value<Rows[Key]> };
/** The values of a request: a field that is null or left out has its default. */
export type GivenFields = { [Key in keyof WireFields]?: WireFields[Key] | null | undefined };

export type FieldRow = FieldText & FieldKind & { name: Name; wireName: keyof WireFields };

export const FIELD_ROWS = rowsOf(FIELDS) as readonly FieldRow[];

export const readFields = (given: GivenFields): SubmissionFields =>
  Object.fromEntries(
    FIELD_ROWS.map((row) => [row.name, given[row.wireName] ?? row.default]),
  ) as SubmissionFields;

export const DEFAULT_FIELDS = readFields({});
