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
import { MAX_IMAGES, type StoredFound } from './job-records.js';
import {
  inParts,
  jobNumberOf,
  jobsOf,
  rangesOf,
  type AskedJobRow,
  type Part,
} from './job-parts.js';
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

  /** The images with a result. Throws `NeedsView`. */
  *images(parts: readonly Part[], question: Asked): Generator<AskedImage, void> {
    const options = new Map(
      [...jobsOf(parts)].map(
        ([
          number,
          {
            settings: { options: own },
            keyId,
          },
        ]) => [number, { own, asked: optionsWith(own, question.question), keyId }],
      ),
    );
    const rows = this.#statements.all(
      `SELECT task, found, view, counted FROM ${inParts('image_boxes')}`,
      rangesOf(parts),
    ) as FoundRow[];
    const isComplete = rows.length === this.#results(parts);
    if (isComplete && rows.every(({ counted }) => counted !== null))
      yield* this.#ofBoxes(rows, question, options);
    else yield* this.#ofResults(parts, question, options);
  }

  /** Rows of `job_counts` whose images are read next. */
  remember(rows: readonly (Place & { number: number })[]): void {
    if (this.#places.size + rows.length > MOST_PLACES) this.#places.clear();
    for (const { number, folder, hour } of rows) this.#places.set(number, { folder, hour });
  }

  /** How many results there are: those of earlier releases have no boxes in narrow rows. */
  #results(parts: readonly Part[]): number {
    const isWhole = ({ from, until, job }: Part) => from === 0 && until === job.imageCount;
    if (parts.every(isWhole)) return parts.reduce((sum, { job }) => sum + job.succeeded, 0);
    const { results } = this.#statements.get(
      `SELECT count(*) AS results FROM ${inParts('image_facts')} WHERE NOT failed`,
      rangesOf(parts),
    ) as { results: number };
    return results;
  }

  *#ofBoxes(
    rows: readonly FoundRow[],
    question: Asked,
    options: OptionsOfJobs,
  ): Generator<AskedImage, void> {
    for (const { task, counted, found, view } of rows) {
      const place = this.#placeOf(counted ?? 0);
      const refined = refine(question, of(options, task), { found, view }, null);
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

  *#ofResults(
    parts: readonly Part[],
    question: Asked,
    options: OptionsOfJobs,
  ): Generator<AskedImage, void> {
    const rows = this.#statements.each(
      `SELECT image_facts.task, job_images.path, taken, CASE WHEN found IS NULL THEN outcome END AS outcome, found, view
       FROM ${inParts('image_facts')} CROSS JOIN job_images USING (task) LEFT JOIN image_boxes USING (task)
       WHERE NOT failed`,
      rangesOf(parts),
    ) as Iterable<ResultRow>;
    for (const { task, path, taken, outcome, ...stored } of rows) {
      const result = outcome === null ? null : (JSON.parse(outcome) as ProcessedImage);
      yield {
        index: task % MAX_IMAGES,
        place: { folder: folderOf({ path }), hour: hourOf(taken) },
        refined: refine(question, of(options, task), stored, result),
      };
    }
  }
}

type OptionsOf = OptionsAsked & Pick<AskedJobRow, 'keyId'>;
/** By the numbers of the jobs. */
type OptionsOfJobs = ReadonlyMap<number, OptionsOf>;

function of(options: OptionsOfJobs, task: number): OptionsOf {
  const found = options.get(jobNumberOf(task));
  if (found === undefined) throw new Error('An image is of a job that was not read.');
  return found;
}

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
