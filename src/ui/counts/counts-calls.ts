/** The calls of the view. */
import type { Counts } from '../../client/records.js';
import { service } from '../session/session.js';
import type { CountsChoice } from './counts-choice.js';
import { placesQuery, questionOf, scopeOf, type ShownCounts } from './counts-request.js';
import type { HourRange } from './wall-hours.js';

export async function askCounts(choice: CountsChoice): Promise<ShownCounts> {
  const { hours, otherHours } = choice;
  const isBounded = hours.from !== null || hours.to !== null;
  const asJobsAsked: CountsChoice = {
    ...choice,
    ...{
      by: 'day',
      eventGap: null,
      standing: 'include',
      camera: null,
      cameraPattern: null,
      view: '',
      min: null,
    },
  };
  const [counts, other, everything] = await Promise.all([
    ask(choice, hours),
    otherHours && ask(choice, otherHours),
    isBounded ? ask(asJobsAsked, { from: null, to: null }) : null,
  ]);
  return { choice, counts, other, everything };
}

function ask(choice: CountsChoice, hours: HourRange): Promise<Counts> {
  return service.countsOf(scopeOf(choice, hours), { question: questionOf(choice) });
}

/** The CSV file of the stays in places, in chunks. */
export const placesFile = (choice: CountsChoice): AsyncGenerator<Uint8Array<ArrayBuffer>, void> =>
  service.placesCsv(placesQuery(choice), { question: questionOf(choice) });

/** The CSV file of a range in chunks. */
export const countsFile = (
  choice: CountsChoice,
  hours: HourRange,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> =>
  service.countsOfCsv(scopeOf(choice, hours), { question: questionOf(choice) });
