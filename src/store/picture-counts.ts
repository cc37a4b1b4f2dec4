/** The boxes of pictures by class and region, by the question of their jobs or by another one. */
import type { Detection, ProcessedImage, RegionCounts } from '../api/schemas/image.js';
import { optionsWith, type Question } from '../api/question.js';
import { countClasses, countRegions } from '../boxes/class-counts.js';
import { dismissalOf } from '../cameras/dismissal.js';
import type { EventPicture } from '../cameras/picture-events.js';
import type { TimeSource } from '../files/wall-time.js';
import type { Asked, OptionsAsked } from './asked-boxes.js';
import { refine } from './asked-rows.js';
import { secondsOf, type PictureRow } from './cameras/camera-pictures.js';
import type { SumRow } from './count-sum.js';
import type { DismissedPlaces } from './cameras/dismissed-places.js';
import type { AskedJobRow } from './job-parts.js';
import type { Statements } from './statements.js';

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

type Boxes = Pick<ProcessedImage, 'detections' | 'regionCounts' | 'image'>;

/** Counts without the boxes in dismissed places. */
export class PictureCounts {
  readonly #statements: Statements;
  readonly #asked: Asked | null;
  readonly #dismissed: DismissedPlaces;
  /** Parsed counts by their text: most pictures have those of another one. */
  readonly #parsed = new Map<string, unknown>();

  constructor(statements: Statements, asked: Asked | null, dismissed: DismissedPlaces) {
    this.#statements = statements;
    this.#asked = asked;
    this.#dismissed = dismissed;
  }

  /** Throws `NeedsView`. */
  of(row: PictureRow, job: AskedJobRow): PictureCount {
    if (row.failed !== 0) return toCount(row, this.#stored(row));
    if (this.#dismissed.of(job.keyId, row).length === 0) {
      const isStored = this.#asked === null;
      return toCount(row, isStored ? this.#stored(row) : countsOf(this.#boxes(row, job)));
    }
    const boxes = this.#boxes(row, job);
    return toCount(row, countsOf(boxes, this.#split(row, job, boxes).counted));
  }

  /** The part of the counts of a picture that the boxes in dismissed places are; null: none. Throws `NeedsView`. */
  dismissedOf(row: PictureRow, job: AskedJobRow): SumRow | null {
    if (row.failed !== 0) return null;
    const boxes = this.#boxes(row, job);
    const { counted, dismissed } = this.#split(row, job, boxes);
    if (dismissed.length === 0) return null;
    const empty = counted.length === 0 ? -1 : 0;
    return { images: 0, failed: 0, empty, sources: {}, ...countsOf(boxes, dismissed) };
  }

  #split(row: PictureRow, job: AskedJobRow, { detections, image }: Boxes) {
    const places = this.#dismissed.of(job.keyId, row);
    const isDismissed = (box: Detection) => dismissalOf(places, box, image) !== undefined;
    return {
      counted: detections.filter((box) => !isDismissed(box)),
      dismissed: detections.filter(isDismissed),
    };
  }

  #boxes(row: PictureRow, job: AskedJobRow): Boxes {
    if (this.#asked !== null) {
      return refine(this.#asked, optionsFor(job, this.#asked), row, resultOf(row));
    }
    const sql = 'SELECT outcome FROM job_images WHERE task = ?';
    const { outcome } = this.#statements.get(sql, row.task) as { outcome: string };
    return JSON.parse(outcome) as ProcessedImage;
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

/** `counted`: those of the boxes that count. */
function countsOf({ detections, regionCounts }: Boxes, counted = detections) {
  return {
    classes: Object.fromEntries(countClasses(counted)),
    ...(regionCounts !== undefined && {
      regions: countRegions(counted, Object.keys(regionCounts)),
    }),
  };
}
