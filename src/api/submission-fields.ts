/**
 * The fields of a submission other than images, options and labels. A field is one row: the fields of requests,
 * the settings of a stored job and their defaults, the flags of the CLI and the form of the page are derived from it.
 * Plain data, so that the page can read it in a browser.
 */
import { TOP_PRIORITY } from './options.js';
import { rowsOf, type WireName } from './rows.js';

interface FieldText {
  /** Description in the OpenAPI document and in the help of the CLI. */
  text: string;
  /** The flag as commander parses it. Absent: the CLI has no flag for this field. */
  flag?: string;
  /** The label in the form of the page. Absent: the form does not have this field. */
  label?: string;
  /** Web pages of other origins may not send this field: see `own-pages.ts`. */
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
  // No flag: `lattice job` neither shows nor fetches drawn copies.
  annotate: {
    kind: 'switch',
    default: false,
    text: 'Also draw the boxes into a copy; see annotated_url',
    label: 'Keep drawn copies of the pictures',
    forOwnPages: true,
  },
  // No label: jobs from the form of the page run all their images.
  reuse: {
    kind: 'choice',
    values: ['off', 'unchanged', 'content'],
    default: 'off',
    text: 'Which images take over a stored result of an earlier job and do not run. unchanged: images whose file, model, options and release are the same as for that result. content: the same, but a file is compared by its bytes and may lie in another place. Images of jobs with `annotate` or `places` always run',
    flag: '--reuse <which>',
  },
  places: {
    kind: 'switch',
    default: false,
    text: 'Tells vehicles apart that stand one after another in one place, for `static` and places; each folder of pictures is a camera. In a watch also the events place_occupied and place_left, of the regions of a picture or, where it has none, of the whole picture',
    flag: '--places',
    label: 'Find vehicles that stand; each folder is a camera',
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
/** The fields by their HTTP names. */
export type WireFields = { [Key in Name as WireName<Rows[Key], Key>]: Value<Rows[Key]> };
/** The fields as a request gives them, by their HTTP names. A field that is null or absent has its default. */
export type GivenFields = { [Key in keyof WireFields]?: WireFields[Key] | null | undefined };

export type FieldRow = FieldText & FieldKind & { name: Name; wireName: keyof WireFields };

export const FIELD_ROWS = rowsOf(FIELDS) as readonly FieldRow[];

export const readFields = (given: GivenFields): SubmissionFields =>
  Object.fromEntries(
    FIELD_ROWS.map((row) => [row.name, given[row.wireName] ?? row.default]),
  ) as SubmissionFields;

export const DEFAULT_FIELDS = readFields({});
