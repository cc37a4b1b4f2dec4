/** The share of dismissed places in the counts of stored jobs, on the thread of the store. */
import type { Asked } from '../asked-boxes.js';
import type { CameraPictures } from './camera-pictures.js';
import { folderOf, hourOf } from '../count-rows.js';
import { SumsByHour, type HourRow } from '../count-sum.js';
import type { DismissedPlaces } from './dismissed-places.js';
import { PictureCounts } from '../picture-counts.js';
import type { Statements } from '../statements.js';

/** Sums by folder and hour; `pictures` are by folder. Throws `NeedsView`. */
export function* dismissedSums(
  statements: Statements,
  pictures: CameraPictures,
  asked: Asked | null,
  dismissed: DismissedPlaces,
): Generator<undefined, HourRow[]> {
  const sums = new SumsByHour();
  const counts = new PictureCounts(statements, asked, dismissed);
  for (const camera of pictures.cameras) {
    if (camera === null || !dismissed.folders.has(camera)) continue;
    yield* pictures.read(camera, (row, job) => {
      const part = counts.dismissedOf(row, job);
      if (part !== null) sums.of(folderOf(row), hourOf(row.taken)).merge(part);
    });
  }
  return sums.rows();
}
