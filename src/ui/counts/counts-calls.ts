/** What the view asks the service. */
import { ApiCalls, queryOf } from '../../client/api-calls.js';
import { HttpCaller } from '../../client/http-call.js';
import type { JobCounts } from '../../client/records.js';
import { accessWith, apiKey } from '../session/session.js';
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

const calls = (): ApiCalls => new ApiCalls(new HttpCaller(accessWith(apiKey.peek())), undefined);

export async function askCounts(choice: CountsChoice): Promise<ShownCounts> {
  const { hours, otherHours } = choice;
  const get = (path: string): Promise<Counts> => calls().get<Counts>(path);
  const isBounded = hours.from !== null || hours.to !== null;
  const asJobsAsked: CountsChoice = { ...choice, by: 'day', view: '', min: null };
  const [counts, other, everything] = await Promise.all([
    get(countsPath(choice, hours)),
    otherHours && get(countsPath(choice, otherHours)),
    isBounded ? get(countsPath(asJobsAsked, { from: null, to: null })) : null,
  ]);
  return { choice, counts, other, everything };
}

/** The CSV file in chunks, with the key of this tab. */
export const countsFile = (path: string): AsyncGenerator<Uint8Array<ArrayBuffer>, void> =>
  calls().file(path);

export const isAsked = ({ watch, tag }: CountsChoice): boolean => watch !== '' || tag !== '';
