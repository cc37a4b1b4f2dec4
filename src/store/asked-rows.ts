/** Images of a job with the boxes that a question asks for, from narrow rows, on the thread of the store. */
import type { ProcessedImage } from '../api/schemas/image.js';
import { optionsWith } from '../api/question.js';
import { folderOf, hourOf } from './count-rows.js';
import {
  missingView,
  refineStored,
  type Asked,
  type OptionsAsked,
  type Refined,
} from './asked-boxes.js';
import type { JobSettings } from './job.js';
import { MAX_IMAGES, taskId, type StoredFound } from './job-records.js';
import type { Statements } from './statements.js';

/** The row of `job_counts` that has an image. */
export interface Place {
  folder: string;
  hour: string;
}

/** An image with a result. */
export interface AskedImage {
  index: number;
  place: Place;
  refined: Refined;
}

export interface AskedJobRow {
  number: number;
  keyId: string | null;
  imageCount: number;
  /** Images with a result. */
  succeeded: number;
  settings: Pick<JobSettings, 'options' | 'scoreFloor'>;
}

/** The regions of a view are needed. */
export class NeedsView extends Error {
  readonly needed: { view: string; keyId: string | null };

  constructor(view: string, keyId: string | null) {
    super('The regions of a view are needed.');
    this.needed = { view, keyId };
  }
}

interface FoundRow extends StoredFound {
  task: number;
  counted: number | null;
}

interface ResultRow extends StoredFound {
  task: number;
  path: string;
  taken: string | null;
  outcome: string | null;
}

/** Rows of `job_counts` whose folder and hour are remembered: they never change. */
const MOST_PLACES = 10_000;

export class AskedRows {
  readonly #statements: Statements;
  readonly #places = new Map<number, Place>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The images with a result from index `from` on, before `until`. Throws `NeedsView`. */
  *images(
    { number, keyId, imageCount, succeeded, settings }: AskedJobRow,
    question: Asked,
    from: number,
    until: number,
  ): Generator<AskedImage, void> {
    const { options: own } = settings;
    const options = { own, asked: optionsWith(own, question.question), keyId };
    const range = [taskId(number, from), taskId(number, until)] as const;
    const rows = this.#statements.all(
      'SELECT task, found, view, counted FROM image_boxes WHERE task >= ? AND task < ? ORDER BY task',
      ...range,
    ) as FoundRow[];
    const isAll = from === 0 && until >= imageCount;
    const results = isAll ? succeeded : this.#results(range);
    if (rows.length === results && rows.every(({ counted }) => counted !== null))
      yield* this.#ofBoxes(rows, question, options);
    else yield* this.#ofResults(range, question, options);
  }

  /** Rows of `job_counts` whose images are read next. */
  remember(rows: readonly (Place & { number: number })[]): void {
    if (this.#places.size + rows.length > MOST_PLACES) this.#places.clear();
    for (const { number, folder, hour } of rows) this.#places.set(number, { folder, hour });
  }

  /** Results of earlier releases have no boxes in narrow rows. */
  #results(range: Range): number {
    const { results } = this.#statements.get(
      'SELECT count(*) AS results FROM image_facts WHERE task >= ? AND task < ? AND NOT failed',
      ...range,
    ) as { results: number };
    return results;
  }

  *#ofBoxes(
    rows: readonly FoundRow[],
    question: Asked,
    options: OptionsOf,
  ): Generator<AskedImage, void> {
    for (const { task, counted, found, view } of rows) {
      const place = this.#placeOf(counted ?? 0);
      const refined = refine(question, options, { found, view }, null);
      yield { index: task % MAX_IMAGES, place, refined };
    }
  }

  #placeOf(number: number): Place {
    const known = this.#places.get(number);
    if (known !== undefined) return known;
    const sql = 'SELECT folder, hour FROM job_counts WHERE number = ?';
    const place = this.#statements.get(sql, number) as Place;
    if (this.#places.size >= MOST_PLACES) this.#places.clear();
    this.#places.set(number, place);
    return place;
  }

  *#ofResults(range: Range, question: Asked, options: OptionsOf): Generator<AskedImage, void> {
    const rows = this.#statements.each(
      `SELECT task, path, taken, CASE WHEN found IS NULL THEN outcome END AS outcome, found, view
       FROM image_facts CROSS JOIN job_images USING (task) LEFT JOIN image_boxes USING (task)
       WHERE task >= ? AND task < ? AND NOT failed ORDER BY task`,
      ...range,
    ) as Iterable<ResultRow>;
    for (const { task, path, taken, outcome, ...stored } of rows) {
      const result = outcome === null ? null : (JSON.parse(outcome) as ProcessedImage);
      yield {
        index: task % MAX_IMAGES,
        place: { folder: folderOf({ path }), hour: hourOf(taken) },
        refined: refine(question, options, stored, result),
      };
    }
  }
}

type OptionsOf = OptionsAsked & Pick<AskedJobRow, 'keyId'>;
type Range = readonly [from: number, until: number];

export function refine(
  question: Asked,
  options: OptionsOf,
  stored: StoredFound,
  result: ProcessedImage | null,
): Refined {
  const view = missingView(question, stored.view);
  if (view !== null) throw new NeedsView(view, options.keyId);
  return refineStored(question, options, stored, result);
}
