/**
 * Events: pictures of one camera that follow each other within a gap. A vehicle that is in several pictures of an event
 * counts once, so an event has the largest count of each class that one of its pictures has.
 */
import type { RegionCounts } from '../api/schemas/image.js';

type ClassCounts = Readonly<Record<string, number>>;

export interface EventPicture<Image> {
  /** Wall time in seconds since 1970 as if it were UTC; null: it is not known. */
  time: number | null;
  image: Image;
  failed: boolean;
  classes: ClassCounts;
  /** Absent where no regions were asked for. */
  regions?: RegionCounts | undefined;
}

export interface PictureEvent<Image> {
  /** Times of its first and last picture; null: of a picture whose time is not known, which is an event by itself. */
  first: number | null;
  last: number | null;
  /** In order of time. */
  pictures: EventPicture<Image>[];
  /** Largest counts of one picture. */
  classes: ClassCounts;
  regions?: RegionCounts | undefined;
  /** The first of its pictures with the most boxes; null: none has a box. */
  best: Image | null;
}

/** The events of one camera in order of time, those without a time last. `pictures` is sorted in place. */
export function eventsOf<Image>(
  pictures: EventPicture<Image>[],
  gapS: number,
): PictureEvent<Image>[] {
  pictures.sort((a, b) => (a.time ?? Infinity) - (b.time ?? Infinity) || 0);
  const events: EventPicture<Image>[][] = [];
  for (const picture of pictures) {
    const event = events.at(-1);
    const before = event?.at(-1)?.time ?? null;
    const isSame = before !== null && picture.time !== null && picture.time - before <= gapS;
    if (event !== undefined && isSame) event.push(picture);
    else events.push([picture]);
  }
  return events.map(toEvent);
}

function toEvent<Image>(pictures: EventPicture<Image>[]): PictureEvent<Image> {
  const regions = pictures.flatMap(({ regions: own }) => (own === undefined ? [] : [own]));
  const best = pictures.reduce<EventPicture<Image> | null>(
    (most, next) => (boxesOf(next) > (most === null ? 0 : boxesOf(most)) ? next : most),
    null,
  );
  return {
    first: pictures[0]?.time ?? null,
    last: pictures.at(-1)?.time ?? null,
    pictures,
    classes: largest(pictures.map(({ classes }) => classes)),
    ...(regions.length > 0 && { regions: largestByRegion(regions) }),
    best: best?.image ?? null,
  };
}

const boxesOf = ({ classes }: EventPicture<unknown>): number =>
  Object.values(classes).reduce((sum, boxes) => sum + boxes, 0);

function largest(counts: readonly ClassCounts[]): ClassCounts {
  const most: Record<string, number> = {};
  for (const each of counts) {
    for (const [name, boxes] of Object.entries(each)) {
      most[name] = Math.max(most[name] ?? 0, boxes);
    }
  }
  return most;
}

function largestByRegion(counts: readonly RegionCounts[]): RegionCounts {
  const names = new Set(counts.flatMap((each) => Object.keys(each)));
  return Object.fromEntries(
    [...names].map((name) => [name, largest(counts.map((each) => each[name] ?? {}))]),
  );
}
