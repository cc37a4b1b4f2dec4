/** Requests of the forms of watches. */
import { timesOf } from '../../api/watch-times.js';
import { jobText } from '../../client/job-text.js';
import type { WatchCreate, WatchPatch } from '../../client/lattice-client.js';
import { jobSettings, metadataText, pathLines, type JobFields } from '../jobs/job-request.js';

/** Reads a field of the form; an empty one is not given. A checkbox is `on`. */
type TextOf = (name: string) => string;

/** The request as JSON text, in which the metadata keep the digits of long numbers. */
export function watchRequest(fields: JobFields, text: TextOf): string {
  const request = {
    ...jobSettings(fields),
    name: text('watch').trim(),
    existing: text('existing') as WatchCreate['existing'],
    ...watchTimes(text),
    paths: pathLines(fields.paths),
  };
  return jobText(request, metadataText(fields));
}

export const watchChanges = (text: TextOf): WatchPatch => ({
  ...watchTimes(text),
  paths: pathLines(text('paths')),
  places: text('places') === 'on',
});

/** Throws a `RangeError` where the times of day are none. */
function watchTimes(
  text: TextOf,
): Pick<WatchCreate, 'settle_ms' | 'schedule' | 'batch' | 'camera_health' | 'event_gap_s'> {
  const settle = numberOf(text('settle'));
  const schedule = text('schedule').trim();
  return {
    settle_ms: settle === null ? null : Math.round(settle * 1_000),
    schedule: schedule === '' ? null : timesOf(schedule),
    batch: { max_images: numberOf(text('images')), max_wait_s: numberOf(text('wait')) },
    camera_health: text('health') === 'on',
    event_gap_s: numberOf(text('gap')),
  };
}

const numberOf = (text: string): number | null => (text === '' ? null : Number(text));
