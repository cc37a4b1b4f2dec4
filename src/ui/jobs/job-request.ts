/** What the form of jobs sends. An empty field is one that is not given. */

export interface JobFields {
  /** One path a line; empty lines are none. */
  paths: string;
  type: string;
  model: string;
  classes: readonly string[];
  priority: number;
}

/** A job that looks for cars takes no other classes. */
export const takesClasses = (jobType: string): boolean => jobType !== 'detect_cars';

export function jobRequest({ paths, type, model, classes, priority }: JobFields): object {
  return {
    job_type: type,
    model_name: textOrNull(model),
    classes: takesClasses(type) ? listOrNull(classes) : null,
    image_paths: paths.split(/\r?\n/).filter((line) => line.trim() !== ''),
    priority: numberOrNull(priority),
  };
}

const textOrNull = (text: string): string | null => (text === '' ? null : text);
const listOrNull = (list: readonly string[]): readonly string[] | null =>
  list.length === 0 ? null : list;

/** A number field without a number is NaN. */
function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
