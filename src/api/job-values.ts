/** Values that fields and filters of jobs and of their images accept: for callers, pages and the store. */

/** Each type says what a job looks for; `read-submission.ts` turns it into classes. */
export const JOB_TYPES = ['detect_cars', 'detect_vehicles', 'batch_detect'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * The order of a list. `submitted`: newest first. `ended`: unfinished jobs come first, then the ended ones, latest end
 * first. `name`: by title, from A. A leading `-` reverses the order.
 */
export const JOB_SORTS = ['submitted', '-submitted', 'ended', '-ended', 'name', '-name'] as const;
export type JobSort = (typeof JOB_SORTS)[number];

/**
 * Orders of the images of a job. `input`: the order of the submission. `margin`: only images with boxes; the image
 * whose box is nearest to its threshold comes first.
 */
export const IMAGE_SORTS = ['input', 'margin'] as const;
export type ImageSort = (typeof IMAGE_SORTS)[number];

/** The outcome of an image: boxes, no boxes, an error, none yet, or none because its job was ended. */
export const IMAGE_OUTCOMES = ['found', 'empty', 'failed', 'pending', 'not_run'] as const;

/**
 * An image passes if it has the given outcome, and a single box of it meets all given box conditions (class and
 * confidence) together.
 */
export interface ImageFilter {
  outcome?: (typeof IMAGE_OUTCOMES)[number] | undefined;
  /** The box has one of these classes. The list is not empty. */
  classes?: readonly string[] | undefined;
  /** The box is below this confidence. */
  confidenceBelow?: number | undefined;
}

/** Steps of the histogram of confidences: step n begins at n / 20. */
export const CONFIDENCE_STEPS = 20;

/** The step of the histogram that a confidence falls into. */
export const confidenceStep = (confidence: number): number =>
  Math.min(Math.floor(confidence * CONFIDENCE_STEPS), CONFIDENCE_STEPS - 1);

/** Groups in which the images of a job are counted; `folder_hour`: each hour of each folder. */
export const GROUPINGS = ['image', 'event', 'folder', 'hour', 'day', 'folder_hour'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Groups of the sums that are kept, also of jobs whose results are removed. */
export type HourGrouping = Exclude<Grouping, 'image' | 'event'>;

/** Groups in which the images of several jobs are counted. */
export const SCOPE_GROUPINGS = [
  'hour',
  'day',
  'folder',
  'event',
  'folder_hour',
] as const satisfies Grouping[];

/** Boxes that are counted: all, those of vehicles that do not stand, or those of vehicles that do. */
export const STATIC_CHOICES = ['include', 'exclude', 'only'] as const;
export type StaticChoice = (typeof STATIC_CHOICES)[number];

/** An event: pictures of one camera with at most so many seconds between two of them. */
export const EVENT_GAP_S = { default: 60, most: 86_400 };
/** Pictures are of one camera when they lie in one folder, or all are, or when their names say so by a pattern. */
export const CAMERAS = ['folder', 'all', 'name'] as const;
/** Characters of the pattern of names. */
export const MOST_CAMERA_PATTERN = 200;

/**
 * The images of an ended job that a retry runs. `failed`: images with an error, and images that did not run. `all`:
 * every image.
 */
export const RETRIED_IMAGES = ['failed', 'all'] as const;

/** Pictures of a job: with their boxes drawn, with their boxes covered, and one of each box. */
export type PictureKind = 'drawn' | 'covered' | 'crops';

/** How boxes are covered: in large blocks, in these with smooth ways between them, or in one colour. */
export const COVER_WAYS = ['pixelate', 'blur', 'fill'] as const;
export type CoverWay = (typeof COVER_WAYS)[number];
/** Around a box that is covered, and around one that is cut out: shares of its width and height. */
export const COVER_MARGIN = 0.1;
export const CROP_MARGIN = 0;
export const MOST_MARGIN = 1;
