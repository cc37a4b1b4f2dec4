/** How far the time that a run said to be left was from what it took. */
import type { Row } from '../tables.js';
import type { WatchedRun } from './watched-run.js';

const SHARES = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5];

/** At the first line of progress that is not before each share of the pictures, against the end of the call. */
export function etaErrors({ lines, seconds }: WatchedRun): Row[] {
  // A call that goes on begins with what the calls before it have done.
  const before = lines[0]?.done ?? 0;
  const total = (lines.at(-1)?.total ?? 0) - before;
  return SHARES.flatMap((share) => {
    const line = lines.find(
      ({ done, secondsLeft }) => done - before >= share * total && secondsLeft !== null,
    );
    if (line === undefined || line.secondsLeft === null) return [];
    const took = seconds - line.at;
    return [
      {
        'of the pictures': `${((100 * (line.done - before)) / total).toFixed(1)} %`,
        'at s': line.at.toFixed(1),
        'said s left': line.secondsLeft.toFixed(0),
        'took s': took.toFixed(0),
        error: `${(100 * (line.secondsLeft / took - 1)).toFixed(0)} %`,
      },
    ];
  });
}
