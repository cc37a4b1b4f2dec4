/** Events of the images of jobs, from their narrow rows, on the thread of the store. */
import type { RegionCounts, ProcessedImage } from '../api/schemas/image.js';
import type { EVENT_CAMERAS } from '../api/job-values.js';
import { optionsWith } from '../api/question.js';
import { countClasses } from '../boxes/class-counts.js';
import { eventsOf, type EventPicture, type PictureEvent } from '../cameras/picture-events.js';
import type { TimeSource } from '../files/wall-time.js';
import type { Asked } from './asked-boxes.js';
import { refine } from './asked-rows.js';
import type { AskedJobRow } from './job-parts.js';
import { folderOf } from './count-rows.js';
import type { SumRow } from './count-sum.js';
import type { CountFigures } from './count-tally.js';
import { MAX_IMAGES, type StoredFound } from './job-records.js';
import { inParts, jobNumberOf, jobsOf, partsOf, rangesOf, type Part } from './job-parts.js';
import type { Statements } from './statements.js';

export interface EventRule {
  /** Pictures of one camera with at most so many seconds between them are one event. */
  gapS: number;
  camera: (typeof EVENT_CAMERAS)[number];
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

interface PictureRow extends StoredFound {
  task: number;
  path: string;
  taken: string | null;
  takenFrom: TimeSource | null;
  failed: number;
  classCounts: string;
  regionCounts: string | null;
  outcome: string | null;
}

type Picture = EventPicture<number> & { source: TimeSource | 'none' };

/** So many events are made between two other calls. */
const EVENTS_PER_STEP = 1000;

/** The events of the pictures of several jobs. */
export class EventReads {
  readonly #statements: Statements;
  readonly #rule: EventRule;
  readonly #hours: readonly [from: string, until: string];
  readonly #asked: Asked | null;
  readonly #cameras = new Map<string | null, Picture[]>();
  /** Parsed counts by their text: most pictures have those of another one. */
  readonly #counts = new Map<string, unknown>();

  /** `hours`: the first one, and the one after the last. */
  constructor(
    statements: Statements,
    rule: EventRule,
    hours: readonly [from: string, until: string],
    asked: Asked | null,
  ) {
    this.#statements = statements;
    this.#rule = rule;
    this.#hours = hours;
    this.#asked = asked;
  }

  /** Reads the pictures of the jobs; null: of one that is left out. Throws `NeedsView`. */
  *read(jobs: Iterable<AskedJobRow | null>): Generator<undefined, void> {
    for (const parts of partsOf(jobs)) {
      if (parts.length > 0) this.#readParts(parts);
      yield;
    }
  }

  #readParts(parts: readonly Part[]): void {
    const jobs = jobsOf(parts);
    const sql = this.#asked === null ? OWN : ASKED;
    const rows = this.#statements.all(sql, rangesOf(parts), ...this.#hours) as PictureRow[];
    for (const row of rows) {
      const job = jobs.get(jobNumberOf(row.task));
      if (job !== undefined) this.#add(row, this.#countsOf(row, job));
    }
  }

  #add(
    { task, path, taken, takenFrom, failed }: PictureRow,
    counts: Pick<Picture, 'classes' | 'regions'>,
  ): void {
    const camera = this.#rule.camera === 'all' ? null : folderOf({ path });
    const pictures = this.#cameras.get(camera) ?? [];
    this.#cameras.set(camera, pictures);
    pictures.push({
      time: taken === null ? null : Date.parse(`${taken}Z`) / 1000,
      source: takenFrom ?? 'none',
      image: task,
      failed: failed !== 0,
      ...counts,
    });
  }

  #countsOf(
    { failed, classCounts, regionCounts, outcome, found, view }: PictureRow,
    { settings: { options: own }, keyId }: AskedJobRow,
  ): Pick<Picture, 'classes' | 'regions'> {
    const asked = this.#asked;
    if (asked === null || failed !== 0) {
      return {
        classes: this.#parsed(classCounts) as EventPicture<number>['classes'],
        ...(regionCounts !== null && { regions: this.#parsed(regionCounts) as RegionCounts }),
      };
    }
    const options = { own, asked: optionsWith(own, asked.question), keyId };
    const result = outcome === null ? null : (JSON.parse(outcome) as ProcessedImage);
    const { detections, regionCounts: regions } = refine(asked, options, { found, view }, result);
    return { classes: Object.fromEntries(countClasses(detections)), regions };
  }

  #parsed(text: string): unknown {
    const known = this.#counts.get(text) ?? (JSON.parse(text) as unknown);
    this.#counts.set(text, known);
    return known;
  }

  /** The events of all cameras, in order of time. The pictures are given up. */
  *events(): Generator<undefined, EventRow[]> {
    const rows: EventRow[] = [];
    for (const [camera, pictures] of this.#cameras) {
      this.#cameras.delete(camera);
      const events = eventsOf(pictures, this.#rule.gapS);
      yield;
      for (let at = 0; at < events.length; at += EVENTS_PER_STEP) {
        const some = events.slice(at, at + EVENTS_PER_STEP);
        const images = this.#imagesOf(some.flatMap(({ best }) => best ?? []));
        for (const event of some) rows.push(toRow(camera, event, images));
        yield;
      }
    }
    return rows.sort(
      (a, b) => compared(a.first, b.first) || compared(a.camera ?? '', b.camera ?? ''),
    );
  }

  #imagesOf(tasks: readonly number[]): Images {
    const rows = this.#statements.all(
      `SELECT task, job_id AS jobId, job_images.path FROM json_each(?) AS best CROSS JOIN job_images ON task = value
       CROSS JOIN jobs ON number = task / ${MAX_IMAGES}`,
      JSON.stringify(tasks),
    ) as { task: number; jobId: string; path: string }[];
    return new Map(
      rows.map(({ task, jobId, path }) => [task, { jobId, index: task % MAX_IMAGES, path }]),
    );
  }
}

type Images = ReadonlyMap<number, NonNullable<EventRow['best']>>;

const FACTS = `image_facts.task, job_images.path, taken, taken_from AS takenFrom, failed, class_counts AS classCounts,
  region_counts AS regionCounts`;
const PICTURES = `${inParts('image_facts')} CROSS JOIN job_images USING (task)`;
const IN_HOURS = "WHERE coalesce(taken, '') >= ? AND coalesce(taken, '') < ?";
const OWN = `SELECT ${FACTS} FROM ${PICTURES} ${IN_HOURS}`;
const ASKED = `SELECT ${FACTS}, found, view, CASE WHEN found IS NULL THEN outcome END AS outcome
  FROM ${PICTURES} LEFT JOIN image_boxes USING (task) ${IN_HOURS}`;

/** Null comes last. */
function compared(a: string | null, b: string | null): number {
  if (a === b) return 0;
  return b === null || (a !== null && a < b) ? -1 : 1;
}

function toRow(
  camera: string | null,
  { first, last, pictures, classes, regions, best }: PictureEvent<number>,
  images: Images,
): EventRow {
  const sources: Partial<Record<TimeSource | 'none', number>> = {};
  for (const { source } of pictures as Picture[]) sources[source] = (sources[source] ?? 0) + 1;
  const failed = pictures.filter((picture) => picture.failed).length;
  const empty = pictures.filter(
    (picture) => !picture.failed && Object.keys(picture.classes).length === 0,
  ).length;
  return {
    camera,
    first: textOf(first),
    last: textOf(last),
    sum: { images: pictures.length, failed, empty, classes, regions, sources },
    // Its job may have been removed since it was read.
    best: (best === null ? undefined : images.get(best)) ?? null,
  };
}

const textOf = (time: number | null): string | null =>
  time === null ? null : new Date(time * 1000).toISOString().slice(0, '2025-11-26T14:30:00'.length);
