/**
 * Events: pictures of one camera that follow each other within a gap. A vehicle that is in several pictures of an event
 * counts once, so an event has the largest count of each class that one of its pictures has.
 */
import type { RegionCounts } from '../api/schemas/image.js';

type ClassCounts = Readonly<Record<string, number>>;

export interface EventPicture<Image, Source extends string> {
  /** Wall time in seconds since 1970 as if it were UTC; null: it is not known. */
  time: number | null;
  source: Source;
  image: Image;
  failed: boolean;
  classes: ClassCounts;
  /** Absent where no regions were asked for. */
  regions?: RegionCounts | undefined;
}

export interface PictureEvent<Image, Source extends string> {
  /** Times of its first and last picture; null: of a picture whose time is not known, which is an event by itself. */
  first: number | null;
  last: number | null;
  images: number;
  failed: number;
  /** Processed, without boxes. */
  empty: number;
  /** Pictures by the source of their time. */
  sources: Partial<Record<Source, number>>;
  /** Largest counts of one picture. */
  classes: Record<string, number>;
  regions?: RegionCounts;
  /** The first of its pictures with the most boxes; null: none has a box. */
  best: Image | null;
  /** Boxes of that picture. */
  most: number;
}

/**
 * A fold over the pictures of one camera in order of time, those without a time last. One that comes late is of the
 * event that goes on: the caller leaves out those of earlier events.
 */
export class EventFold<Image, Source extends string> {
  readonly #gapS: number;
  readonly #events: PictureEvent<Image, Source>[];

  /** `open`: the event that the pictures before have left; null: there were none. */
  constructor(gapS: number, open: PictureEvent<Image, Source> | null = null) {
    this.#gapS = gapS;
    this.#events = open === null ? [] : [open];
  }

  add({ time, source, image, failed, classes, regions }: EventPicture<Image, Source>): void {
    const event = this.#eventAt(time);
    if (time !== null) {
      event.first = Math.min(event.first ?? time, time);
      event.last = Math.max(event.last ?? time, time);
    }
    event.images += 1;
    event.sources[source] = (event.sources[source] ?? 0) + 1;
    const boxes = Object.values(classes).reduce((sum, count) => sum + count, 0);
    if (failed) event.failed += 1;
    else if (boxes === 0) event.empty += 1;
    raise(event.classes, classes);
    for (const [name, own] of Object.entries(regions ?? {})) {
      event.regions ??= {};
      raise((event.regions[name] ??= {}), own);
    }
    if (boxes <= event.most) return;
    event.most = boxes;
    event.best = image;
  }

  /** The events so far, in order of time. */
  get events(): readonly PictureEvent<Image, Source>[] {
    return this.#events;
  }

  /** The last event, where the picture belongs to it, else a new one. */
  #eventAt(time: number | null): PictureEvent<Image, Source> {
    const last = this.#events.at(-1);
    const before = last?.last ?? null;
    const isSame = before !== null && time !== null && time - before <= this.#gapS;
    if (last !== undefined && isSame) return last;
    const counts = { images: 0, failed: 0, empty: 0, sources: {}, classes: {} };
    const event = { first: time, last: time, ...counts, best: null, most: 0 };
    this.#events.push(event);
    return event;
  }
}

/** Raises each count to the one of the picture. */
function raise(most: Record<string, number>, counts: ClassCounts): void {
  for (const [name, boxes] of Object.entries(counts)) {
    most[name] = Math.max(most[name] ?? 0, boxes);
  }
}
