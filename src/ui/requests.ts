/** What the forms send. An empty field is one that is not given. */

export interface DetectFields {
  path: string;
  model: string;
  threshold: number;
}

/** Asks for a drawn copy too: pictures themselves are not served. */
export function detectRequest({ path, model, threshold }: DetectFields): object {
  return {
    image_path: path,
    model_name: model === '' ? null : model,
    confidence_threshold: numberOrNull(threshold),
    annotate: true,
  };
}

export interface JobFields {
  /** One path a line; empty lines are none. */
  paths: string;
  type: string;
  priority: number;
}

export function jobRequest({ paths, type, priority }: JobFields): object {
  return {
    job_type: type,
    image_paths: paths.split(/\r?\n/).filter((line) => line.trim() !== ''),
    priority: numberOrNull(priority),
  };
}

/** A number field without a number is NaN. */
function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
