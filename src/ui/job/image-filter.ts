/** Which images of a job are shown: read from the address, sent to the service. */
import { IMAGE_OUTCOMES } from '../../api/job-values.js';
import type { JobImagesQuery } from '../../client/lattice-client.js';
import { listOf, listText, type Query } from '../address/address.js';
import type { Detection } from '../picture/shown-boxes.js';

export type Outcome = (typeof IMAGE_OUTCOMES)[number];

export interface ImageFilter {
  outcome: Outcome | null;
  /** Images with a box of one of these; none: of any class. */
  classes: readonly string[];
  /** Images with such a box below this confidence, in whole percent. */
  below: number | null;
}

export function readFilter({ outcome, class: classes, below }: Query): ImageFilter {
  const percent = Number(below);
  return {
    outcome: IMAGE_OUTCOMES.find((each) => each === outcome) ?? null,
    classes: listOf(classes),
    below: Number.isInteger(percent) && percent > 0 && percent < 100 ? percent : null,
  };
}

export const isFiltered = (filter: ImageFilter): boolean => Object.keys(queryOf(filter)).length > 0;

/** The filter of an address without one. */
export const NO_FILTER = { outcome: '', class: '', below: '' };

/** The filter as the query of the page's address. */
export function queryOf({ outcome, classes, below }: ImageFilter): Record<string, string> {
  return {
    ...(outcome === null ? {} : { outcome }),
    ...(classes.length === 0 ? {} : { class: listText(classes) }),
    ...(below === null ? {} : { below: String(below) }),
  };
}

/** The filter as the query of the service. */
export function imagesQuery({ outcome, classes, below }: ImageFilter): JobImagesQuery {
  return {
    outcome: outcome ?? undefined,
    class: classes.length === 0 ? undefined : classes,
    confidence_below: below === null ? undefined : below / 100,
  };
}

/** The filter in the address with this class switched. */
export function withClass({ classes }: ImageFilter, name: string): Query {
  const others = classes.filter((each) => each !== name);
  const next = others.length < classes.length ? others : [...classes, name];
  return { class: listText(next) };
}

/** The boxes for which the service lets the image through: one must be of a class and below the confidence. */
export function passingBoxes<T extends Pick<Detection, 'class' | 'confidence'>>(
  boxes: readonly T[],
  { classes, below }: ImageFilter,
): T[] {
  return boxes.filter(
    ({ class: name, confidence }) =>
      (classes.length === 0 || classes.includes(name)) &&
      (below === null || confidence < below / 100),
  );
}
