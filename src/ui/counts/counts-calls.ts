/** The calls of the view, with the key of this tab. */
import { ApiCalls } from '../../client/api-calls.js';
import { HttpCaller } from '../../client/http-call.js';
import { accessWith, apiKey } from '../session/session.js';
import type { CountsChoice } from './counts-choice.js';
import { countsPath, type Counts, type ShownCounts } from './counts-request.js';

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

/** The CSV file in chunks. */
export const countsFile = (path: string): AsyncGenerator<Uint8Array<ArrayBuffer>, void> =>
  calls().file(path);
