/** Requests of the view, and their answers. */
import { queryOf } from '../../client/api-calls.js';
import type { Counts, CountsQuery, JobQuestion, PlacesQuery } from '../../client/records.js';
import type { CountsChoice, CountsGrouping } from './counts-choice.js';
import { hourKey, type HourRange } from './wall-hours.js';

export type CountSum = Counts['total'];
export type CountGroup = Counts['groups'][number];

/** The answers to one choice. */
export interface ShownCounts {
  choice: CountsChoice;
  counts: Counts;
  /** Null where nothing is compared. */
  other: Counts | null;
  /** All times by day, as each job asked; null where the range is all times. */
  everything: Counts | null;
}

/**
 * Classes and regions are those of the total, and places are another call: days are the shortest list of groups that
 * the service has.
 */
const wireGrouping = (by: CountsGrouping) =>
  by === 'class' || by === 'region' || by === 'place' ? 'day' : by;

/** The scope of a range of the choice, as the client takes it. */
export function scopeOf(
  { watch, tag, by, eventGap, standing, ...choice }: CountsChoice,
  hours: HourRange,
): CountsQuery {
  return {
    ...jobsOf({ watch, tag }, hours),
    by: wireGrouping(by),
    ...(eventGap !== null && { event_gap_s: Number(eventGap) }),
    ...(standing !== 'include' && { static: standing }),
    ...((eventGap !== null || standing !== 'include') && cameraOf(choice)),
  };
}

/** The scope of the places of the choice. */
export const placesQuery = (choice: CountsChoice): PlacesQuery => ({
  ...jobsOf(choice, choice.hours),
  ...cameraOf(choice),
});

const cameraOf = ({ camera, cameraPattern }: Pick<CountsChoice, 'camera' | 'cameraPattern'>) => ({
  ...(camera !== null && { camera }),
  ...(cameraPattern !== null && { camera_pattern: cameraPattern }),
});

function jobsOf({ watch, tag }: Pick<CountsChoice, 'watch' | 'tag'>, { from, to }: HourRange) {
  const bound = (hour: number | null) => (hour === null ? undefined : hourKey(hour));
  return {
    watch: watch === '' ? undefined : watch,
    tag: tag === '' ? undefined : tag,
    from: bound(from),
    to: bound(to),
  };
}

export function questionOf({ view, min }: CountsChoice): JobQuestion {
  return {
    ...(view !== '' && { view }),
    ...(min !== null && { confidence_threshold: min / 100 }),
  };
}

/** The question of the choice, as the address of an image has it. */
export const questionTexts = (choice: CountsChoice): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(queryOf({ ...questionOf(choice) })));

/** The path of a range of the choice. */
export function countsPath(choice: CountsChoice, hours: HourRange, format?: 'csv'): string {
  return `/v1/counts${queryOf({ ...scopeOf(choice, hours), ...questionOf(choice), format })}`;
}

/** The path of the places of the choice. */
export const placesPath = (choice: CountsChoice, format?: 'csv'): string =>
  `/v1/places${queryOf({ ...placesQuery(choice), ...questionOf(choice), format })}`;

/** The path of a call as a command line. */
export function callCommand(path: string, origin: string, needsKey: boolean): string {
  const key = needsKey ? '-H "authorization: Bearer $LATTICE_API_KEY" ' : '';
  return `curl -s ${key}'${origin}${path.replaceAll("'", '%27')}'`;
}
