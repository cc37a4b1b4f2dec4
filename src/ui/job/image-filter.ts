/** Which images of a job are shown: read from the address, sent to the service. */
import type { Query } from '../address/address.js';

export const OUTCOMES = ['found', 'empty', 'failed', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface ImageFilter {
  outcome: Outcome | null;
  className: string | null;
  /** Images with a box below this confidence, in whole percent. */
  below: number | null;
}

export function readFilter({ outcome, class: className, below }: Query): ImageFilter {
  const percent = Number(below);
  return {
    outcome: OUTCOMES.find((each) => each === outcome) ?? null,
    className: className === undefined || className === '' ? null : className,
    below: Number.isInteger(percent) && percent > 0 && percent < 100 ? percent : null,
  };
}

export const isFiltered = (filter: ImageFilter): boolean => Object.keys(queryOf(filter)).length > 0;

/** As it stands in the address. */
export function queryOf({ outcome, className, below }: ImageFilter): Record<string, string> {
  return {
    ...(outcome === null ? {} : { outcome }),
    ...(className === null ? {} : { class: className }),
    ...(below === null ? {} : { below: String(below) }),
  };
}

/** Route of the page of images that begins at `offset`. */
export function imagesRoute(
  jobId: string,
  { outcome, className, below }: ImageFilter,
  { offset, limit }: { offset: number; limit: number },
): string {
  const query = new URLSearchParams({ offset: String(offset), limit: String(limit) });
  if (outcome !== null) query.set('outcome', outcome);
  if (className !== null) query.set('class', className);
  if (below !== null) query.set('confidence_below', String(below / 100));
  return `/v1/jobs/${encodeURIComponent(jobId)}/images?${query.toString()}`;
}
