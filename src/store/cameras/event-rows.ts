/** Events of the images of jobs, on the thread of the store. */
import type { StaticChoice } from '../../api/job-values.js';
import { EventFold, type PictureEvent } from '../../cameras/picture-events.js';
import type { Asked } from '../asked-boxes.js';
import {
  imagesOf,
  textOf,
  type CameraPictures,
  type PictureName,
  type PictureRule,
} from './camera-pictures.js';
import type { SumRow } from '../count-sum.js';
import type { CountFigures } from '../count-tally.js';
import { PictureCounts, type PictureCount, type PictureSource } from '../picture-counts.js';
import { DismissedPlaces } from './dismissed-places.js';
import { StandingBoxes } from './standing-boxes.js';
import type { Statements } from '../statements.js';

export interface EventRule extends PictureRule {
  /** Pictures of one camera with at most so many seconds between them are one event. */
  gapS: number;
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
  best: PictureName | null;
}

export interface CountedEvents extends CountFigures {
  /** In order of time, those without a time last. */
  events: EventRow[];
}

/** So many events are made between two other calls. */
const EVENTS_PER_STEP = 1000;

/** The events of all cameras, in order of time. Throws `NeedsView`. */
export function* eventRows(
  statements: Statements,
  pictures: CameraPictures,
  asked: Asked | null,
  { gapS, static: choice }: EventRule,
): Generator<undefined, EventRow[]> {
  const rows: EventRow[] = [];
  const dismissed = new DismissedPlaces(statements);
  const counts =
    choice === 'include' || asked === null
      ? new PictureCounts(statements, asked, dismissed)
      : { standing: () => new StandingBoxes(asked, dismissed), choice };
  for (const camera of pictures.cameras) {
    const fold = new EventFold<number, PictureSource>(gapS);
    yield* countPictures(pictures, camera, counts, (count) => {
      fold.add(count);
    });
    for (let at = 0; at < fold.events.length; at += EVENTS_PER_STEP) {
      const events = fold.events.slice(at, at + EVENTS_PER_STEP);
      const images = imagesOf(
        statements,
        events.flatMap(({ best }) => best ?? []),
      );
      for (const event of events) rows.push(toRow(camera, event, images));
      yield;
    }
  }
  return rows.sort(
    (a, b) => compared(a.first, b.first) || compared(a.camera ?? '', b.camera ?? ''),
  );
}

function* countPictures(
  pictures: CameraPictures,
  camera: string | null,
  counts: PictureCounts | { standing: () => StandingBoxes; choice: StaticChoice },
  add: (count: PictureCount) => void,
): Generator<undefined, void> {
  if (counts instanceof PictureCounts) {
    yield* pictures.read(camera, (row, job) => {
      add(counts.of(row, job));
    });
    return;
  }
  const standing = counts.standing();
  yield* standing.read(pictures, camera);
  for (const { count } of standing.counts(counts.choice)) add(count);
}

type Event = PictureEvent<number, PictureSource>;
type Images = ReadonlyMap<number, PictureName>;

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
    first: first === null ? null : textOf(first),
    last: last === null ? null : textOf(last),
    sum,
    // Its job may have been removed since it was read.
    best: (best === null ? undefined : images.get(best)) ?? null,
  };
}
