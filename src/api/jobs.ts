/** The values that fields and filters of jobs have: for callers, pages and the store. */

export const JOB_TYPES = ['detect_cars', 'detect_vehicles', 'batch_detect'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * The order of a list. `submitted`: newest first. `ended`: those that have not ended, then the last to end first.
 * `name`: by title, from A. With `-`, the reverse.
 */
export const JOB_SORTS = ['submitted', '-submitted', 'ended', '-ended', 'name', '-name'] as const;
export type JobSort = (typeof JOB_SORTS)[number];

/** Orders of the images of a job: that of its input, or by how far their boxes are above their thresholds. */
export const IMAGE_SORTS = ['input', 'margin'] as const;
export type ImageSort = (typeof IMAGE_SORTS)[number];

/** The outcome of an image: boxes, no boxes, an error, none yet, or none because its job was ended. */
export const IMAGE_OUTCOMES = ['found', 'empty', 'failed', 'pending', 'not_run'] as const;

/** An image passes if it has the outcome and one of its boxes fits every other given field. */
export interface ImageFilter {
  outcome?: (typeof IMAGE_OUTCOMES)[number] | undefined;
  /** A box of one of these classes; at least one. */
  classes?: readonly string[] | undefined;
  /** A box below this confidence. */
  confidenceBelow?: number | undefined;
}

/** Steps of the histogram of confidences: step n begins at n / 20. */
export const CONFIDENCE_STEPS = 20;

/** Groups in which the images of a job are counted. */
export const GROUPINGS = ['image', 'folder', 'hour', 'day'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** `failed`: those without boxes because of an error or because their job ended first. */
export const RETRIED_IMAGES = ['failed', 'all'] as const;
