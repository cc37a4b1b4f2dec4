/**
 * Images of jobs: what a page of a job shows and filters by, and the reads of it. Outcomes are long and a job may have
 * a million of them, so facts are kept beside them: `image_facts` has a narrow row per image with an outcome,
 * `image_boxes` the boxes that the network found in it, `job_counts` a row per folder and hour, `job_boxes` a row per
 * class and step of confidence, `job_regions` a row per region and class, `job_models` a row per model file.
 */
import { byClassKey, classKey } from '../api/class-key.js';
import { FIGURE_ROWS, NO_FIGURES } from '../api/job-figures.js';
import type { NamedVersion } from '../api/schemas/model.js';
import type { DetectOptions } from '../api/options.js';
import { RegionSums } from '../boxes/class-counts.js';
import { confidenceStep, type ImageFilter } from '../api/job-values.js';
import { timeOfFile } from '../files/wall-time.js';
import { JobSums } from './count-rows.js';
import { COUNTED } from './figure-columns.js';
import type { ImageOutcome, ImageTally } from './job.js';
import { countClasses } from '../boxes/class-counts.js';
import {
  MAX_IMAGES,
  taskId,
  type FilteredImages,
  type NewOutcome,
  type StoredCounts,
  type StoredFound,
  type StoredImage,
} from './job-records.js';
import { versionOf } from '../api/version-of.js';
import type { Statements } from './statements.js';

/** Stands around each class in `image_facts.classes`, so that a search finds whole names. */
const CLASS_MARK = '\n';

/**
 * The margin of an image: how far its box nearest to its threshold is above it. Parameters: the threshold of the job,
 * those of classes.
 */
const MARGIN = `(SELECT min(least.value - coalesce(own.value, ?)) FROM json_each(weakest_by_class) AS least
          LEFT JOIN json_each(?) AS own ON own.key = least.key)`;

type Thresholds = Pick<DetectOptions, 'confidence' | 'classThresholds'>;

/** The boxes of several images are added up first: most fall into few classes and steps. */
export class ImageFacts {
  readonly #statements: Statements;
  readonly #jobNumber: number;
  readonly #boxes = new Map<string, number[]>();
  readonly #regions = new RegionSums();
  readonly #models = new Map<string, NamedVersion & { images: number }>();
  readonly #sums: JobSums;
  /** Figures of the images that were added. */
  readonly figures = { ...NO_FIGURES };

  /** `isFirst`: no image of the job has an outcome yet. */
  constructor(statements: Statements, jobNumber: number, isFirst: boolean) {
    this.#statements = statements;
    this.#jobNumber = jobNumber;
    this.#sums = new JobSums(statements, jobNumber, isFirst);
  }

  /** `path` is that of the image. Call `save` after the last one. */
  add(
    { index, outcome, taken: written, keys, found, descriptors = null }: NewOutcome,
    path: string,
  ): void {
    const task = taskId(this.#jobNumber, index);
    const image = JSON.parse(outcome) as ImageOutcome;
    for (const { name } of FIGURE_ROWS) if (COUNTED[name](image)) this.figures[name] += 1;
    const { detections = [], regionCounts, annotatedPath } = image.status === 'ok' ? image : {};
    const classes = countClasses(detections);
    const classCounts = Object.fromEntries(classes);
    const weakest = new Map<string, number>();
    for (const { class: name, confidence } of detections) {
      weakest.set(name, Math.min(weakest.get(name) ?? confidence, confidence));
      this.#count(name, confidenceStep(confidence));
    }
    this.#regions.add(regionCounts);
    // Without a turn of its own, or where the volume did not answer, the picture's own time was not read.
    const taken = written ?? timeOfFile(path, image.file?.modifiedNs ?? null);
    const counted = this.#sums.add({
      index,
      path,
      failed: image.status !== 'ok',
      classCounts,
      regionCounts: regionCounts ?? {},
      taken,
    });
    if (image.status === 'ok') {
      const { model: name = '', modelDigest: digest, precision, quantizedFrom } = image;
      this.#countModel(versionOf({ name, digest, precision, quantizedFrom }));
    }
    this.#statements.run(
      `INSERT INTO image_facts (task, failed, boxes, weakest, classes, weakest_by_class, class_counts, region_counts,
         taken, taken_from, reuse_key, content_key)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      task,
      image.status === 'ok' ? 0 : 1,
      detections.length,
      weakest.size === 0 ? null : Math.min(...weakest.values()),
      classes.size === 0 ? '' : ['', ...classes.keys(), ''].join(CLASS_MARK),
      JSON.stringify(Object.fromEntries(weakest)),
      JSON.stringify(classCounts),
      regionCounts === undefined ? null : JSON.stringify(regionCounts),
      taken?.time ?? null,
      taken?.source ?? null,
      keys?.unchanged ?? null,
      keys?.content ?? null,
    );
    if (image.status === 'ok' && found) {
      const view = image.view === undefined ? null : JSON.stringify(image.view);
      this.#statements.run(
        'INSERT INTO image_boxes (task, found, view, counted, descriptors) VALUES (?, ?, ?, ?, ?)',
        ...[task, found, view, counted, descriptors],
      );
    }
    if (annotatedPath === undefined) return;
    this.#statements.run(
      'INSERT INTO drawn_copies (task, name) VALUES (?, ?)',
      task,
      annotatedPath,
    );
  }

  save(): void {
    this.#sums.save();
    for (const [name, steps] of this.#boxes) {
      steps.forEach((boxes, step) => {
        this.#statements.run(
          `INSERT INTO job_boxes (job, class, step, boxes) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET boxes = boxes + excluded.boxes`,
          this.#jobNumber,
          name,
          step,
          boxes,
        );
      });
    }
    for (const { name, digest, source, precision, images } of this.#models.values()) {
      this.#statements.run(
        `INSERT INTO job_models (job, name, digest, source, precision, images) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET images = images + excluded.images`,
        this.#jobNumber,
        name,
        digest,
        source,
        precision,
        images,
      );
    }
    for (const [region, classes] of this.#regions.sums) {
      for (const [name, boxes] of [['', 0] as const, ...classes]) {
        this.#statements.run(
          `INSERT INTO job_regions (job, region, class, boxes) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET boxes = boxes + excluded.boxes`,
          this.#jobNumber,
          region,
          name,
          boxes,
        );
      }
    }
  }

  #countModel(version: NamedVersion | null): void {
    if (version === null) return;
    const key = `${version.digest} ${version.precision}`;
    const images = (this.#models.get(key)?.images ?? 0) + 1;
    this.#models.set(key, { ...version, images });
  }

  #count(name: string, step: number): void {
    const steps = this.#boxes.get(name) ?? [];
    steps[step] = (steps[step] ?? 0) + 1;
    this.#boxes.set(name, steps);
  }
}

/** Length of a page in characters: parsing it blocks the event loop for 1 to 2 ms. */
const PAGE_LENGTH = 128 * 1024;

/** The part of a job that tells which of its images have no outcome. */
interface ImagesOf {
  number: number;
  imageCount: number;
  /** State of an image without an outcome. */
  without: 'pending' | 'not_run';
}

export class ImageReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * Reads at most `limit` images by index, beginning at `from`, and no more than fill a page of about 128 KiB. Empty
   * only if no image is left.
   */
  images(jobNumber: number, from: number, limit: number): StoredImage[] {
    return pageOf(
      this.#statements.each(
        `SELECT task % ${MAX_IMAGES} AS "index", path, outcome, taken
         FROM job_images LEFT JOIN image_facts USING (task)
         WHERE task >= ? AND task < ? ORDER BY task LIMIT ?`,
        taskId(jobNumber, from),
        taskId(jobNumber + 1, 0),
        limit,
      ) as Iterable<StoredImage>,
    );
  }

  /**
   * Reads the images with these indexes, in this order, which is the order of the join: a sort would read all before
   * the first. Reads only the first ones if they fill a page, and at least one.
   */
  imagesAt(jobNumber: number, indexes: readonly number[]): StoredImage[] {
    return pageOf(
      this.#statements.each(
        `SELECT task % ${MAX_IMAGES} AS "index", job_images.path, outcome
         FROM json_each(?) AS wanted CROSS JOIN job_images ON task = ? + wanted.value`,
        JSON.stringify(indexes),
        taskId(jobNumber, 0),
      ) as Iterable<StoredImage>,
    );
  }

  /** Like `images`, with what the network found. */
  foundImages(jobNumber: number, from: number, limit: number): (StoredImage & StoredFound)[] {
    return pageOf(
      this.#statements.each(
        `SELECT task % ${MAX_IMAGES} AS "index", path, outcome, taken, found, view
         FROM job_images LEFT JOIN image_facts USING (task) LEFT JOIN image_boxes USING (task)
         WHERE task >= ? AND task < ? ORDER BY task LIMIT ?`,
        taskId(jobNumber, from),
        taskId(jobNumber + 1, 0),
        limit,
      ) as Iterable<StoredImage & StoredFound>,
    );
  }

  /** Like `imagesAt`, with what the network found. */
  foundImagesAt(jobNumber: number, indexes: readonly number[]): (StoredImage & StoredFound)[] {
    return pageOf(
      this.#statements.each(
        `SELECT task % ${MAX_IMAGES} AS "index", job_images.path, outcome, found, view
         FROM json_each(?) AS wanted CROSS JOIN job_images ON task = ? + wanted.value
         LEFT JOIN image_boxes USING (task)`,
        JSON.stringify(indexes),
        taskId(jobNumber, 0),
      ) as Iterable<StoredImage & StoredFound>,
    );
  }

  /**
   * Like `imageCounts`, with what the network found in place of the counts. Without that an image with a result has its
   * outcome.
   */
  foundCounts(
    jobNumber: number,
    from: number,
    limit: number,
  ): (StoredCounts & StoredFound & Pick<StoredImage, 'outcome'>)[] {
    return this.#statements.all(
      `SELECT task % ${MAX_IMAGES} AS "index", path, failed, NULL AS classCounts, NULL AS regionCounts, taken,
         taken_from AS takenFrom, found, view, CASE WHEN found IS NULL THEN outcome END AS outcome
       FROM job_images LEFT JOIN image_facts USING (task) LEFT JOIN image_boxes USING (task)
       WHERE task >= ? AND task < ? ORDER BY task LIMIT ?`,
      taskId(jobNumber, from),
      taskId(jobNumber + 1, 0),
      limit,
    ) as (StoredCounts & StoredFound & Pick<StoredImage, 'outcome'>)[];
  }

  /** Reads the counts by index, beginning at `from`, also of images without an outcome. */
  imageCounts(jobNumber: number, from: number, limit: number): StoredCounts[] {
    return this.#statements.all(
      `SELECT task % ${MAX_IMAGES} AS "index", path, failed, class_counts AS classCounts,
         region_counts AS regionCounts, taken, taken_from AS takenFrom
       FROM job_images LEFT JOIN image_facts USING (task)
       WHERE task >= ? AND task < ? ORDER BY task LIMIT ?`,
      taskId(jobNumber, from),
      taskId(jobNumber + 1, 0),
      limit,
    ) as StoredCounts[];
  }

  /**
   * Like `images`, but reads the images that pass the filter, beginning at the `offset`th. With `thresholds` only
   * images with a box pass, and the one whose box is nearest to its threshold comes first. Finds them in narrow rows.
   */
  filteredImages(
    job: ImagesOf,
    filter: ImageFilter,
    offset: number,
    limit: number,
    thresholds?: Thresholds,
  ): FilteredImages {
    const { from, values } = filtered(job, filter, thresholds !== undefined);
    const sorted =
      thresholds === undefined
        ? { order: 'task', values: [] }
        : this.#byMargin(job.number, thresholds);
    const { matching } = this.#statements.get(`SELECT count(*) AS matching ${from}`, ...values) as {
      matching: number;
    };
    const rows = this.#statements.each(
      `SELECT job_images.task % ${MAX_IMAGES} AS "index", path, outcome
       FROM (SELECT task ${from} ORDER BY ${sorted.order} LIMIT ? OFFSET ?) AS found
       CROSS JOIN job_images ON job_images.task = found.task`,
      ...values,
      ...sorted.values,
      limit,
      offset,
    ) as Iterable<StoredImage>;
    return { images: pageOf(rows), matching };
  }

  /** SQL that sorts by margin: without thresholds of classes by the weakest box, in a tenth of the time. */
  #byMargin(jobNumber: number, thresholds: Thresholds): { order: string; values: Value[] } {
    const own = this.#ownThresholds(jobNumber, thresholds);
    if (Object.keys(own).length === 0) return { order: 'weakest, task', values: [] };
    return { order: `${MARGIN}, task`, values: [thresholds.confidence, JSON.stringify(own)] };
  }

  /** The thresholds of classes that the job's boxes have, by the names that the boxes use. */
  #ownThresholds(jobNumber: number, { classThresholds }: Thresholds): Record<string, number> {
    const byKey = byClassKey(classThresholds);
    if (byKey.size === 0) return {};
    const found = this.#statements.all(
      'SELECT DISTINCT class FROM job_boxes WHERE job = ?',
      jobNumber,
    ) as { class: string }[];
    const own = found.flatMap(({ class: name }) => {
      const threshold = byKey.get(classKey(name));
      return threshold === undefined ? [] : [[name, threshold] as const];
    });
    return Object.fromEntries(own);
  }

  /** Counts over the whole job. */
  tally(jobNumber: number): ImageTally {
    const images = this.#statements.get(
      `SELECT count(*) FILTER (WHERE boxes > 0) AS found, count(*) FILTER (WHERE boxes = 0 AND NOT failed) AS empty,
         count(*) FILTER (WHERE failed) AS failed
       FROM image_facts WHERE task >= ? AND task < ?`,
      taskId(jobNumber, 0),
      taskId(jobNumber + 1, 0),
    ) as Omit<ImageTally, 'boxes'>;
    const boxes = this.#statements.all(
      'SELECT class, step, boxes FROM job_boxes WHERE job = ? ORDER BY class, step',
      jobNumber,
    ) as ImageTally['boxes'];
    return { ...images, boxes, regions: regionRows(this.#statements, jobNumber) };
  }
}

export function regionRows(statements: Statements, jobNumber: number): ImageTally['regions'] {
  return statements.all(
    'SELECT region, class, boxes FROM job_regions WHERE job = ? ORDER BY region, class',
    jobNumber,
  ) as ImageTally['regions'];
}

function pageOf<T extends StoredImage>(rows: Iterable<T>): T[] {
  const page: T[] = [];
  let length = 0;
  for (const image of rows) {
    page.push(image);
    length += image.path.length + (image.outcome?.length ?? 0);
    if (length >= PAGE_LENGTH) break;
  }
  return page;
}

type Value = string | number;

/** `FROM ... WHERE ...` over rows that have a `task`. */
function filtered(
  { number, imageCount, without }: ImagesOf,
  { outcome, classes, confidenceBelow }: ImageFilter,
  haveBoxes: boolean,
): { from: string; values: Value[] } {
  const first = taskId(number, 0);
  const wantsBoxes = haveBoxes || classes !== undefined || confidenceBelow !== undefined;
  if (outcome === 'pending' || outcome === 'not_run') {
    const clause = outcome === without && !wantsBoxes ? 'boxes IS NULL' : 'false';
    return {
      from: `FROM (WITH RECURSIVE tasks (task) AS
          (SELECT ? UNION ALL SELECT task + 1 FROM tasks WHERE task + 1 < ?) SELECT task FROM tasks)
        LEFT JOIN image_facts USING (task) WHERE ${clause}`,
      values: [first, first + imageCount],
    };
  }
  const clauses = ['task >= ?', 'task < ?'];
  const values: Value[] = [first, first + imageCount];
  if (haveBoxes || outcome === 'found') clauses.push('boxes > 0');
  if (outcome === 'empty') clauses.push('boxes = 0 AND NOT failed');
  if (outcome === 'failed') clauses.push('failed');
  if (classes !== undefined) {
    clauses.push(`(${classes.map(() => 'instr(classes, ?)').join(' OR ')})`);
    values.push(...classes.map((name) => `${CLASS_MARK}${name}${CLASS_MARK}`));
  }
  if (confidenceBelow !== undefined) {
    clauses.push('weakest < ?');
    values.push(confidenceBelow);
  }
  // Reads JSON, so only of the images that the clauses before have left.
  if (classes !== undefined && confidenceBelow !== undefined) {
    clauses.push(`EXISTS (SELECT 1 FROM json_each(weakest_by_class)
      WHERE key IN (${classes.map(() => '?').join()}) AND value < ?)`);
    values.push(...classes, confidenceBelow);
  }
  return { from: `FROM image_facts WHERE ${clauses.join(' AND ')}`, values };
}
