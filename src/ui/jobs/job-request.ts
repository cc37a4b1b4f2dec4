/** What the form of jobs sends. An empty field is one that is not given. */
import { viewParameters } from '../../api/options.js';
import { jobText } from '../../client/job-text.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import type { WrittenOptions } from '../options/written-options.js';

export const JOB_TYPE_TEXTS: readonly { type: JobSubmit['job_type']; text: string }[] = [
  { type: 'detect_vehicles', text: 'Vehicles' },
  { type: 'detect_cars', text: 'Cars only' },
  { type: 'batch_detect', text: 'Everything the model knows' },
];

export interface JobFields {
  /** One path a line; empty lines are none. */
  paths: string;
  type: JobSubmit['job_type'];
  model: string;
  classes: readonly string[];
  /** Null: that of the model. */
  threshold: number | null;
  priority: number;
  /** Empty: the service looks for one by the path of each image. */
  view: string;
  written?: WrittenOptions;
  /** JSON of an object. */
  metadata: string;
  callback: string;
  annotate: boolean;
}

/** A job that looks for cars takes no other classes. */
export const takesClasses = (jobType: string): boolean => jobType !== 'detect_cars';

/** Why a text is no metadata; empty where it is. */
export function metadataFault(text: string): string {
  if (text.trim() === '') return '';
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? '' : 'Metadata is a JSON object, such as {"camera": "north"}.';
  } catch {
    return 'This is not JSON. Names and texts stand in double quotes.';
  }
}

/** As JSON: the metadata keep their text, and with it the digits of long numbers. */
export function jobRequest(fields: JobFields): string {
  const { paths, type, model, classes, threshold, priority, view, callback } = fields;
  const request: Omit<JobSubmit, 'metadata'> = {
    job_type: type,
    model_name: textOrNull(model),
    classes: takesClasses(type) && classes.length > 0 ? [...classes] : null,
    image_paths: paths.split(/\r?\n/).filter((line) => line.trim() !== ''),
    ...viewParameters(fields.written ?? {}),
    confidence_threshold: threshold,
    priority: Number.isNaN(priority) ? null : priority,
    view: textOrNull(view),
    callback_url: textOrNull(callback.trim()),
    annotate: fields.annotate ? true : null,
  };
  const metadata = fields.metadata.trim();
  return jobText(request, textOrNull(metadata));
}

const textOrNull = (text: string): string | null => (text === '' ? null : text);
