/** Events of the images of jobs, on the thread of the store. */
import type { ProcessedImage, RegionCounts } from '../api/schemas/image.js';
import { optionsWith } from '../api/question.js';
import { countClasses } from '../boxes/class-counts.js';
import { EventFold, type EventPicture, type PictureEvent } from '../cameras/picture-events.js';
import type { TimeSource } from '../files/wall-time.js';
import type { Asked } from './asked-boxes.js';
import { refine } from './asked-rows.js';
import {
  secondsOf,
  type CameraPictures,
  type CameraRule,
  type PictureRow,
} from './camera-pictures.js';
import type { SumRow } from './count-sum.js';
import type { CountFigures } from './count-tally.js';
import type { AskedJobRow } from './job-parts.js';
import { MAX_IMAGES } from './job-records.js';
import type { Statements } from './statements.js';

export interface EventRule {
  /** Pictures of one camera with at most so many seconds between them are one event. */
  gapS: number;
  camera: CameraRule;
}

export interface EventRow {
  /** The folder of the pictures; null: all pictures are of one camera. */
  camera: string | null;
  /** Wall times; null: not known. */
  first: string | null;
  last: string | null;
  /** Images, and the largest counts of one of them. */
  sum: SumRow;
  /** The picture with the most boxes; null: none has a box. */
  best: { jobId: string; index: number; path: string } | null;
}

export interface CountedEvents extends CountFigures {
  /** In order of time, those without a time last. */
  events: EventRow[];
}

type Source = TimeSource | 'none';

/** So many events are made between two other calls. */
const EVENTS_PER_STEP = 1000;

/** The events of all cameras, in order of time. Throws `NeedsView`. */
export function* eventRows(
  statements: Statements,
  pictures: CameraPictures,
  asked: Asked | null,
  { gapS }: EventRule,
): Generator<undefined, EventRow[]> {
  const rows: EventRow[] = [];
  const counts = new PictureCounts(asked);
  for (const camera of pictures.cameras) {
    const fold = new EventFold<number, Source>(gapS);
    yield* pictures.read(camera, (row, job) => {
      fold.add(counts.of(row, job));
    });
    for (let at = 0; at < fold.events.length; at += EVENTS_PER_STEP) {
      const events = fold.events.slice(at, at + EVENTS_PER_STEP);
      const images = imagesOf(statements, events);
      for (const event of events) rows.push(toRow(camera, event, images));
      yield;
    }
  }
  return rows.sort(
    (a, b) => compared(a.first, b.first) || compared(a.camera ?? '', b.camera ?? ''),
  );
}

/** The boxes of pictures, by the question of their jobs or by another one. */
class PictureCounts {
  readonly #asked: Asked | null;
  /** Parsed counts by their text: most pictures have those of another one. */
  readonly #parsed = new Map<string, unknown>();

  constructor(asked: Asked | null) {
    this.#asked = asked;
  }

  of(row: PictureRow, job: AskedJobRow): EventPicture<number, Source> {
    const { task, taken, takenFrom, failed } = row;
    return {
      time: secondsOf(taken),
      source: takenFrom ?? 'none',
      image: task,
      failed: failed !== 0,
      ...this.#countsOf(row, job),
    };
  }

  #countsOf(
    { failed, classCounts, regionCounts, outcome, found, view }: PictureRow,
    { settings: { options: own }, keyId }: AskedJobRow,
  ): Pick<EventPicture<number, Source>, 'classes' | 'regions'> {
    const asked = this.#asked;
    if (asked === null || failed !== 0) {
      return {
        classes: this.#valueOf(classCounts) as Record<string, number>,
        ...(regionCounts !== null && { regions: this.#valueOf(regionCounts) as RegionCounts }),
      };
    }
    const options = { own, asked: optionsWith(own, asked.question), keyId };
    const result = outcome === null ? null : (JSON.parse(outcome) as ProcessedImage);
    const { detections, regionCounts: regions } = refine(asked, options, { found, view }, result);
    return { classes: Object.fromEntries(countClasses(detections)), regions };
  }

  #valueOf(text: string): unknown {
    const value = this.#parsed.get(text) ?? (JSON.parse(text) as unknown);
    this.#parsed.set(text, value);
    return value;
  }
}

type Event = PictureEvent<number, Source>;
type Images = ReadonlyMap<number, NonNullable<EventRow['best']>>;

function imagesOf(statements: Statements, events: readonly Event[]): Images {
  const rows = statements.all(
    `SELECT task, job_id AS jobId, job_images.path
     FROM json_each(?) AS best CROSS JOIN job_images ON task = value
     CROSS JOIN jobs ON number = task / ${MAX_IMAGES}`,
    JSON.stringify(events.flatMap(({ best }) => best ?? [])),
  ) as { task: number; jobId: string; path: string }[];
  return new Map(
    rows.map(({ task, jobId, path }) => [task, { jobId, index: task % MAX_IMAGES, path }]),
  );
}

/** Null comes last. */
function compared(a: string | null, b: string | null): number {
  if (a === b) return 0;
  return b === null || (a !== null && a < b) ? -1 : 1;
}

function toRow(
  camera: string | null,
  { first, last, best, ...sum }: Event,
  images: Images,
): EventRow {
  return {
    camera,
    first: textOf(first),
    last: textOf(last),
    sum,
    // Its job may have been removed since it was read.
    best: (best === null ? undefined : images.get(best)) ?? null,
  };
}

const textOf = (time: number | null): string | null =>
  time === null ? null : new Date(time * 1000).toISOString().slice(0, '2025-11-26T14:30:00'.length);
