/** The boxes of pictures by class and region, by the question of their jobs or by another one. */
import type { ProcessedImage, RegionCounts } from '../api/schemas/image.js';
import { optionsWith, type Question } from '../api/question.js';
import { countClasses } from '../boxes/class-counts.js';
import type { EventPicture } from '../cameras/picture-events.js';
import type { TimeSource } from '../files/wall-time.js';
import type { Asked, OptionsAsked } from './asked-boxes.js';
import { refine } from './asked-rows.js';
import { secondsOf, type PictureRow } from './camera-pictures.js';
import type { AskedJobRow } from './job-parts.js';

/** `none`: its time is not known. */
export type PictureSource = TimeSource | 'none';

/** Counts of the picture that is this task. */
export type PictureCount = EventPicture<number, PictureSource>;

type BoxCounts = Pick<PictureCount, 'classes' | 'regions'>;

/** The part of a picture that is counted apart from its boxes. */
export type CountedRow = Pick<PictureRow, 'task' | 'path' | 'taken' | 'takenFrom' | 'failed'>;

export function toCount(
  { task, taken, takenFrom, failed }: CountedRow,
  counts: BoxCounts,
): PictureCount {
  return {
    time: secondsOf(taken),
    source: takenFrom ?? 'none',
    image: task,
    failed: failed !== 0,
    ...counts,
  };
}

const OWN_QUESTION: Question = {};

/** Options of a picture. `asked`: null is the question of its job. */
export function optionsFor(
  { settings: { options: own }, keyId }: AskedJobRow,
  asked: Asked | null,
): OptionsAsked & Pick<AskedJobRow, 'keyId'> {
  return { own, asked: optionsWith(own, asked?.question ?? OWN_QUESTION), keyId };
}

export const resultOf = ({ outcome }: PictureRow): ProcessedImage | null =>
  outcome === null ? null : (JSON.parse(outcome) as ProcessedImage);

export class PictureCounts {
  readonly #asked: Asked | null;
  /** Parsed counts by their text: most pictures have those of another one. */
  readonly #parsed = new Map<string, unknown>();

  constructor(asked: Asked | null) {
    this.#asked = asked;
  }

  /** Throws `NeedsView`. */
  of(row: PictureRow, job: AskedJobRow): PictureCount {
    const isStored = this.#asked === null || row.failed !== 0;
    return toCount(row, isStored ? this.#stored(row) : asked(row, job, this.#asked));
  }

  #stored({ classCounts, regionCounts }: PictureRow): BoxCounts {
    return {
      classes: this.#valueOf(classCounts) as Record<string, number>,
      ...(regionCounts !== null && { regions: this.#valueOf(regionCounts) as RegionCounts }),
    };
  }

  #valueOf(text: string): unknown {
    const value = this.#parsed.get(text) ?? (JSON.parse(text) as unknown);
    this.#parsed.set(text, value);
    return value;
  }
}

function asked(row: PictureRow, job: AskedJobRow, question: Asked): BoxCounts {
  const { detections, regionCounts } = refine(
    question,
    optionsFor(job, question),
    row,
    resultOf(row),
  );
  return { classes: Object.fromEntries(countClasses(detections)), regions: regionCounts };
}
