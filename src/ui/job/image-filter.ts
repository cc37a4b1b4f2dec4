/** Which images of a job are shown: read from the address, sent to the service. */
import type { JobImagesQuery } from '../../client/lattice-client.js';
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

/** In the address. */
export const NO_FILTER = { outcome: '', class: '', below: '' };

/** As it stands in the address. */
export function queryOf({ outcome, className, below }: ImageFilter): Record<string, string> {
  return {
    ...(outcome === null ? {} : { outcome }),
    ...(className === null ? {} : { class: className }),
    ...(below === null ? {} : { below: String(below) }),
  };
}

/** As the service takes it. */
export function imagesQuery({ outcome, className, below }: ImageFilter): JobImagesQuery {
  return {
    outcome: outcome ?? undefined,
    class: className ?? undefined,
    confidence_below: below === null ? undefined : below / 100,
  };
}
