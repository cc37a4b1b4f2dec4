/** The request of the form of jobs. An empty field is one that is not given. */
import type { GivenLabels } from '../../api/job-labels.js';
import { isObject } from '../../api/json-object.js';
import { toWireParameters } from '../../api/options.js';
import { FIELD_ROWS, type FieldRow, type GivenFields } from '../../api/submission-fields.js';
import { jobText } from '../../client/job-text.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import type { WrittenOptions } from '../options/written-options.js';

export const JOB_TYPE_TEXTS: readonly { type: JobSubmit['job_type']; text: string }[] = [
  { type: 'detect_vehicles', text: 'Vehicles' },
  { type: 'detect_cars', text: 'Cars only' },
  { type: 'batch_detect', text: 'Everything the model knows' },
];

export interface JobFields extends GivenFields {
  /** One path per line; empty lines do not count. */
  paths: string;
  type: JobSubmit['job_type'];
  model: string;
  classes: readonly string[];
  /** Null: that of the model. */
  threshold: number | null;
  /** Empty: the service looks for one by the path of each image. */
  view: string;
  written?: WrittenOptions;
  /** JSON of an object. */
  metadata: string;
  labels?: GivenLabels;
}

/** Rows of the fields that the form has. */
export const FORM_ROWS = FIELD_ROWS.filter(({ label }) => label !== undefined);

/** Reads the fields from the texts of the form. */
export const givenFields = (text: (name: string) => string): GivenFields =>
  Object.fromEntries(FORM_ROWS.map((row) => [row.wireName, valueOf(row, text(row.wireName))]));

function valueOf({ kind }: FieldRow, text: string): unknown {
  const written = text.trim();
  if (written === '') return null;
  return kind === 'number' ? Number(written) : kind === 'switch' ? true : written;
}

/** A job that looks for cars takes no other classes. */
export const takesClasses = (jobType: string): boolean => jobType !== 'detect_cars';

/** Why a text is no metadata; empty where it is. */
export function metadataFault(text: string): string {
  if (text.trim() === '') return '';
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? '' : 'Metadata is a JSON object, such as {"camera": "north"}.';
  } catch {
    return 'This is not JSON. Names and texts stand in double quotes.';
  }
}

export const pathLines = (text: string): string[] =>
  text.split(/\r?\n/).filter((line) => line.trim() !== '');

/** The request as JSON text, in which the metadata keep the digits of long numbers. */
export function jobRequest(fields: JobFields): string {
  const request = { ...jobSettings(fields), image_paths: pathLines(fields.paths) };
  return jobText(request, metadataText(fields));
}

/** All but the images, which a watch finds by itself, and the metadata. */
export function jobSettings(fields: JobFields): Omit<JobSubmit, 'metadata' | 'image_paths'> {
  const { type, model, classes, threshold, view, labels = {} } = fields;
  return {
    job_type: type,
    model_name: textOrNull(model),
    classes: takesClasses(type) && classes.length > 0 ? [...classes] : null,
    ...toWireParameters(fields.written ?? {}),
    confidence_threshold: threshold,
    ...Object.fromEntries(FORM_ROWS.map(({ wireName }) => [wireName, fields[wireName] ?? null])),
    view: textOrNull(view),
    name: labels.name ?? null,
    tags: labels.tags?.length ? [...labels.tags] : null,
    keep: labels.keep === false ? null : (labels.keep ?? null),
  };
}

export const metadataText = ({ metadata }: JobFields): string | null => textOrNull(metadata.trim());

const textOrNull = (text: string): string | null => (text === '' ? null : text);
