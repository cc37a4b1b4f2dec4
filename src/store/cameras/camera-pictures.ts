/** The images of jobs as the pictures of cameras, in order of time, on the thread of the store. */
import { posix } from 'node:path';
import type { CAMERAS, StaticChoice } from '../../api/job-values.js';
import { cameraPattern } from '../../cameras/camera-pattern.js';
import type { TimeSource } from '../../files/wall-time.js';
import { folderOf } from '../count-rows.js';
import { MAX_IMAGES, type StoredFound } from '../job-records.js';
import { inParts, jobNumberOf, partsOf, rangesOf, type AskedJobRow } from '../job-parts.js';
import type { Statements } from '../statements.js';

/** So many pictures are read between two other calls: they take a few milliseconds. */
const PICTURES_PER_STEP = 500;

/** Which pictures are of one camera, and which of their boxes are counted. */
export interface PictureRule {
  camera: Exclude<(typeof CAMERAS)[number], 'name'> | { pattern: string };
  static: StaticChoice;
}

/** A picture with what its job stored of it. */
export interface PictureRow extends StoredFound {
  task: number;
  path: string;
  taken: string | null;
  takenFrom: TimeSource | null;
  failed: number;
  classCounts: string;
  regionCounts: string | null;
  /** See `describedBoxes`. */
  descriptors: Uint8Array | null;
  /** JSON; null where the image keeps its boxes. */
  outcome: string | null;
}

/** The camera of a picture by the pattern: its folder with the part of its name; null: its name does not fit. */
export function namedCamera(pattern: string): (path: string) => string | null {
  const partOf = cameraPattern(pattern);
  return (path) => {
    const folder = folderOf({ path });
    const part = partOf(posix.basename(path));
    if (part === null) return null;
    return folder === '.' ? part : `${folder}/${part}`;
  };
}

/** The camera of a picture; null: all are of one. */
function cameraOf(camera: PictureRule['camera']): (path: string) => string | null {
  if (camera === 'all') return () => null;
  const named = camera === 'folder' ? null : namedCamera(camera.pattern);
  return (path) => named?.(path) ?? folderOf({ path });
}

export class CameraPictures {
  readonly #statements: Statements;
  readonly #cameraOf: (path: string) => string | null;
  readonly #hours: readonly [from: string, until: string];
  readonly #jobs = new Map<number, AskedJobRow>();
  /** Tasks of the pictures with their times; null: all are of one camera. */
  readonly #cameras = new Map<string | null, { task: number; time: number }[]>();

  /** `hours`: the first one, and the one after the last. */
  constructor(
    statements: Statements,
    camera: PictureRule['camera'],
    hours: readonly [from: string, until: string],
  ) {
    this.#statements = statements;
    this.#cameraOf = cameraOf(camera);
    this.#hours = hours;
  }

  /** Finds the pictures of the jobs; null: of one that is left out. */
  *gather(jobs: Iterable<AskedJobRow | null>): Generator<undefined, void> {
    for (const parts of partsOf(jobs)) {
      for (const { job } of parts) this.#jobs.set(job.number, job);
      const rows = this.#statements.all(
        `SELECT image_facts.task, job_images.path, taken, failed
         FROM ${inParts('image_facts')} CROSS JOIN job_images USING (task)
         WHERE coalesce(taken, '') >= ? AND coalesce(taken, '') < ?`,
        rangesOf(parts),
        ...this.#hours,
      ) as Pick<PictureRow, 'task' | 'path' | 'taken' | 'failed'>[];
      for (const row of rows) {
        if (row.failed === 0 || this.#jobOf(row).isRetried !== true) this.#add(row);
      }
      yield;
    }
  }

  #add({ task, path, taken }: Pick<PictureRow, 'task' | 'path' | 'taken'>): void {
    const camera = this.#cameraOf(path);
    const pictures = this.#cameras.get(camera) ?? [];
    this.#cameras.set(camera, pictures);
    pictures.push({ task, time: secondsOf(taken) ?? Infinity });
  }

  get cameras(): Iterable<string | null> {
    return this.#cameras.keys();
  }

  /** Reads the pictures of a camera in order of time, those without a time last. */
  *read(
    camera: string | null,
    add: (row: PictureRow, job: AskedJobRow) => void,
  ): Generator<undefined, void> {
    const pictures = this.#cameras.get(camera) ?? [];
    pictures.sort((a, b) => (a.time === b.time ? a.task - b.task : a.time - b.time));
    yield;
    for (let at = 0; at < pictures.length; at += PICTURES_PER_STEP) {
      const tasks = pictures.slice(at, at + PICTURES_PER_STEP).map(({ task }) => task);
      for (const row of readPictures(this.#statements, tasks)) add(row, this.#jobOf(row));
      yield;
    }
  }

  #jobOf({ task }: Pick<PictureRow, 'task'>): AskedJobRow {
    const job = this.#jobs.get(jobNumberOf(task));
    if (job === undefined) throw new Error('A picture is of a job that was not read.');
    return job;
  }
}

/** In the order of the tasks; those that are gone are left out. */
export const readPictures = (statements: Statements, tasks: readonly number[]): PictureRow[] =>
  statements.all(READ, JSON.stringify(tasks)) as PictureRow[];

const READ = `SELECT image_facts.task, job_images.path, taken, taken_from AS takenFrom, failed,
    class_counts AS classCounts, region_counts AS regionCounts, found, view, descriptors,
    CASE WHEN found IS NULL THEN outcome END AS outcome
  FROM json_each(?) AS picture CROSS JOIN image_facts ON image_facts.task = picture.value
  CROSS JOIN job_images USING (task) LEFT JOIN image_boxes USING (task)`;

/** Wall time in seconds since 1970 as if it were UTC; null: it is not known. */
export const secondsOf = (taken: string | null): number | null =>
  taken === null ? null : Date.parse(`${taken}Z`) / 1000;

/** Seconds -> wall time. */
export const textOf = (time: number): string =>
  new Date(time * 1000).toISOString().slice(0, '2025-11-26T14:30:00'.length);

/** An image by its place in its job. */
export interface PictureName {
  jobId: string;
  index: number;
  path: string;
}

/** The images that are these tasks; one whose job was removed is not among them. */
export function imagesOf(
  statements: Statements,
  tasks: readonly number[],
): ReadonlyMap<number, PictureName> {
  const rows = statements.all(
    `SELECT task, job_id AS jobId, job_images.path
     FROM json_each(?) AS picture CROSS JOIN job_images ON task = value
     CROSS JOIN jobs ON number = task / ${MAX_IMAGES}`,
    JSON.stringify(tasks),
  ) as { task: number; jobId: string; path: string }[];
  return new Map(
    rows.map(({ task, jobId, path }) => [task, { jobId, index: task % MAX_IMAGES, path }]),
  );
}
