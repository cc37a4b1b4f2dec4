/** Requests of the view, and their answers. */
import { queryOf } from '../../client/api-calls.js';
import type { JobCounts } from '../../client/records.js';
import type { CountsChoice, CountsGrouping } from './counts-choice.js';
import { hourKey, type HourRange } from './wall-hours.js';

export type CountSum = JobCounts['total'];
export type CountGroup = JobCounts['groups'][number];

export type Counts = Omit<JobCounts, 'job_id' | 'status'> & {
  watch: string | null;
  tag: string | null;
  /** `2025-11-01T00:00` */
  from: string | null;
  to: string | null;
  jobs: number;
  removed_images: number;
  unanswered_images: number;
};

/** The answers to one choice. */
export interface ShownCounts {
  choice: CountsChoice;
  counts: Counts;
  /** Null where nothing is compared. */
  other: Counts | null;
  /** All times by day, as each job asked; null where the range is all times. */
  everything: Counts | null;
}

/** Classes and regions are those of the total: days are the shortest list of groups that the service has. */
const wireGrouping = (by: CountsGrouping) => (by === 'class' || by === 'region' ? 'day' : by);

/** The path of a range of the choice. */
export function countsPath(choice: CountsChoice, hours: HourRange, format?: 'csv'): string {
  const { watch, tag, by, view, min } = choice;
  const bound = (hour: number | null) => (hour === null ? undefined : hourKey(hour));
  return `/v1/counts${queryOf({
    watch: watch === '' ? undefined : watch,
    tag: tag === '' ? undefined : tag,
    from: bound(hours.from),
    to: bound(hours.to),
    by: wireGrouping(by),
    view: view === '' ? undefined : view,
    confidence_threshold: min === null ? undefined : min / 100,
    format,
  })}`;
}

/** The same as a command line. */
export function countsCommand(path: string, origin: string, needsKey: boolean): string {
  const key = needsKey ? '-H "authorization: Bearer $LATTICE_API_KEY" ' : '';
  return `curl -s ${key}'${origin}${path.replaceAll("'", '%27')}'`;
}
