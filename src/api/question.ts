/**
 * The options that are asked of the boxes which a run has found: a stored result can be asked again with other values.
 * The boxes depend on the other options, so that these need another run. Plain data, safe for browsers.
 */
import {
  PARAMETER_ROWS,
  type DetectionParameters,
  type DetectOptions,
  type WireParameters,
} from './options.js';

/** The parameters that the network's own boxes depend on. */
const OF_RUN = ['iou', 'tiles'] as const satisfies readonly (keyof DetectionParameters)[];
type OfRun = (typeof OF_RUN)[number];

const isOfRun = (name: string): boolean => (OF_RUN as readonly string[]).includes(name);

export const QUESTION_ROWS = PARAMETER_ROWS.filter(({ name }) => !isOfRun(name));
export const RUN_ROWS = PARAMETER_ROWS.filter(({ name }) => isOfRun(name));

/** The options that differ from those of the run; the others stay as they were. */
export type Question = Partial<Omit<DetectionParameters, OfRun> & Pick<DetectOptions, 'classes'>>;

/** The parameters of a question by their HTTP names. */
export type WireQuestion = Omit<WireParameters, 'iou_threshold' | 'tiles'>;

/** The options of a run as if it had been asked the question. */
export function optionsWith(options: DetectOptions, question: Question): DetectOptions {
  const { regions = null, view = null } = question;
  // Regions and a view exclude each other: one takes the place of both.
  const isElsewhere = regions !== null || view !== null;
  return { ...options, ...question, ...(isElsewhere && { regions, view }) };
}
