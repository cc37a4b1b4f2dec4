/** The pictures that the flags of a command ask for. */
import { LatticeError } from '../api/errors.js';
import { COVER_MARGIN, COVER_WAYS, CROP_MARGIN } from '../api/job-values.js';
import { coveredClasses, isCovered } from '../http/request/covered-classes.js';
import type { ChosenPictures } from '../http/routes/jobs/picture-maker.js';
import type { PictureFlags } from './picture-flags.js';
import { UsageError } from './terminal.js';

/** Rejects with `UsageError` for a class that cannot be covered. */
export async function chosenPictures(
  { drawn, crops, cover, coverWith = COVER_WAYS[0], margin }: PictureFlags,
  ...[options, catalogue]: OfClasses
): Promise<ChosenPictures[]> {
  const chosen: ChosenPictures[] = [];
  if (drawn === true) chosen.push({ look: { kind: 'drawn' }, isShown: () => true });
  if (crops === true) {
    chosen.push({ look: { kind: 'crops', margin: margin ?? CROP_MARGIN }, isShown: () => true });
  }
  if (cover !== undefined) {
    const classes = await coveredClasses(cover, options, catalogue).catch((error: unknown) => {
      throw error instanceof LatticeError ? new UsageError(`--cover: ${error.message}`) : error;
    });
    chosen.push({
      look: { kind: 'covered', how: coverWith, margin: margin ?? COVER_MARGIN },
      isShown: (box) => isCovered(box, classes),
    });
  }
  return chosen;
}

type OfClasses = Parameters<typeof coveredClasses> extends [unknown, ...infer Rest] ? Rest : never;
