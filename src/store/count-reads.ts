/** Counts over the images of jobs, by their own question or by another one. */
import { LatticeError } from '../api/errors.js';
import { optionsWith } from '../api/question.js';
import { confidenceStep, type ImageFilter } from '../api/job-values.js';
import type { DetectOptions } from '../api/options.js';
import type { Detection } from '../api/schemas/image.js';
import { thresholdsOf } from '../boxes/refine-detections.js';
import { questionFault, type Asked, type Refined } from './asked-boxes.js';
import { AskedRows, NeedsView, type AskedJobRow, type Place } from './asked-rows.js';
import {
  hourBounds,
  type CountScope,
  type HourText,
  type JobsOf,
  type ScopeCounts,
} from './count-rows.js';
import { SumsByHour, type CountSum, type HourRow, type SumRow } from './count-sum.js';
import { jobNotFound } from './job.js';
import { taskId } from './job-records.js';
import { conditions } from './job-reads.js';
import { askedSettings } from './job-rows.js';
import { markedTag } from './marked-tags.js';
import type { Statements } from './statements.js';

/** So many rows or images are read between two other calls: they take a few milliseconds. */
const ROWS_PER_STEP = 1000;
const IMAGES_PER_STEP = 500;
/** Jobs of which one is removed while they are read are read again. */
const TRIES = 5;

/** Counts over jobs. */
export interface Counted {
  /** By folder and hour, in no order. */
  sums: HourRow[];
  /** Boxes by class and step of confidence; of another question only. */
  steps: [className: string, boxes: number[]][];
  /** Jobs, also without a counted image. */
  jobs: number;
  pendingImages: number;
  notRunImages: number;
  /** Images of removed jobs: they are counted, but not by another question. */
  removedImages: number;
  /** Images of jobs whose boxes cannot answer the question: they are not counted. */
  unansweredImages: number;
}

/** A page of the images of a job that pass a filter. */
export interface Passing {
  indexes: number[];
  /** How many there are. */
  matching: number;
}

/** A view whose regions the question needs, by name and version as JSON: the call is to be made again with them. */
export interface ViewNeeded {
  view: string;
  keyId: string | null;
}

interface JobRow extends Omit<AskedJobRow, 'settings'> {
  settings: string;
  waiting: number;
  completedAt: number | null;
}

export class CountReads {
  readonly #statements: Statements;
  readonly #scopes: ScopeCounts;
  readonly #asked: AskedRows;

  constructor(statements: Statements, scopes: ScopeCounts) {
    this.#statements = statements;
    this.#scopes = scopes;
    this.#asked = new AskedRows(statements);
  }

  /**
   * Counts by the question of each job, or by another one. Throws `storage_unavailable` where jobs of a scope that is
   * asked were removed during each try.
   */
  *countSums(scope: CountScope, asked: Asked | null): Steps<Counted | { viewNeeded: ViewNeeded }> {
    for (let tried = 0; tried < TRIES; tried++) {
      const { moves } = this.#scopes;
      const tally = new Tally();
      try {
        yield* this.#count(tally, scope, asked);
      } catch (error) {
        if (!(error instanceof NeedsView)) throw error;
        return { viewNeeded: error.needed };
      }
      const isOfManyJobs = asked !== null && typeof scope.jobs !== 'number';
      if (!isOfManyJobs || moves === this.#scopes.moves) return tally.result(scope);
    }
    const detail = 'Results are being removed: their counts cannot be read at the moment.';
    throw new LatticeError('storage_unavailable', detail, { retryAfterS: 5 });
  }

  /**
   * Images of a job with a result whose boxes pass, in input order or by how far the box nearest to its threshold is
   * above it.
   */
  *passing(
    jobNumber: number,
    asked: Asked,
    filter: ImageFilter,
    { byMargin, offset, limit }: { byMargin: boolean; offset: number; limit: number },
  ): Steps<Passing | { viewNeeded: ViewNeeded }> {
    const [row] = this.#jobs({ jobs: jobNumber }, 0);
    if (row === undefined) throw jobNotFound();
    const job = { ...row, settings: askedSettings(row.settings) };
    const options = optionsWith(job.settings.options, asked.question);
    const passing: { index: number; margin: number }[] = [];
    try {
      for (let from = 0; from < job.imageCount; from += IMAGES_PER_STEP) {
        const images = this.#asked.images(job, asked, from, from + IMAGES_PER_STEP);
        for (const { index, refined } of images) {
          const margin = byMargin ? marginOf(refined, options) : 0;
          if (margin !== null && passes(refined, filter)) passing.push({ index, margin });
        }
        yield;
      }
    } catch (error) {
      if (!(error instanceof NeedsView)) throw error;
      return { viewNeeded: error.needed };
    }
    if (byMargin) passing.sort((a, b) => a.margin - b.margin || a.index - b.index);
    const page = passing.slice(offset, offset + limit);
    return { indexes: page.map(({ index }) => index), matching: passing.length };
  }

  *#count(tally: Tally, scope: CountScope, asked: Asked | null): Steps<void> {
    const { jobs } = scope;
    if (typeof jobs !== 'number')
      yield* this.#countScope(tally, { ...scope, jobs }, asked === null);
    if (asked !== null) yield* this.#countAsked(tally, scope, asked);
    else if (typeof jobs !== 'number') yield* this.#countJobs(tally, scope);
    else yield* this.#countJob(tally, jobs);
  }

  /** Images of jobs and of removed ones. `isCounted`: false notes the removed ones only. */
  *#countScope(
    tally: Tally,
    scope: CountScope & { jobs: JobsOf },
    isCounted: boolean,
  ): Steps<void> {
    const { keyId, watch, tag } = scope.jobs;
    const sql = `SELECT number, folder, hour, sum, removed FROM scope_counts
      WHERE number > ? AND owner = coalesce(?, owner) AND watch = coalesce(?, watch) AND instr(tags, ?)
        AND hour >= ? AND hour < ? AND removed >= ? ORDER BY number LIMIT ${ROWS_PER_STEP}`;
    const values = [keyId, watch ?? null, tag === undefined ? '' : markedTag(tag)];
    const least = isCounted ? 0 : 1;
    const read = (after: number) =>
      this.#statements.all(sql, after, ...values, ...hourBounds(scope), least) as (HourText &
        Numbered & { removed: number })[];
    yield* inSteps(0, read, (row) => {
      tally.addRemoved(row.removed);
      if (isCounted) tally.addRow(row);
    });
  }

  *#countJobs(tally: Tally, scope: CountScope): Steps<void> {
    const read = (after: number) => {
      const jobs = jobsAfter(scope, after);
      return this.#statements.all(
        `SELECT number, image_count - finished AS waiting, completed_at AS completedAt
         FROM ${jobs.from} ${jobs.where} ORDER BY number LIMIT ${ROWS_PER_STEP}`,
        ...jobs.values,
      ) as Pick<JobRow, 'number' | 'waiting' | 'completedAt'>[];
    };
    yield* inSteps(0, read, (row) => {
      tally.addJob(row);
    });
  }

  *#countJob(tally: Tally, jobNumber: number): Steps<void> {
    for (const job of this.#jobs({ jobs: jobNumber }, 0)) tally.addJob(job);
    const sql = `SELECT number, folder, hour, sum FROM job_counts WHERE number > ? AND number < ?
      ORDER BY number LIMIT ${ROWS_PER_STEP}`;
    const end = taskId(jobNumber + 1, 0);
    const read = (after: number) =>
      this.#statements.all(sql, after, end) as (HourText & Numbered)[];
    yield* inSteps(taskId(jobNumber, 0) - 1, read, (row) => {
      tally.addRow(row);
    });
  }

  *#countAsked(tally: Tally, scope: CountScope, asked: Asked): Steps<void> {
    for (let after: number | null = 0; after !== null;) {
      const jobs = this.#jobs(scope, after);
      for (const row of jobs) {
        const { isRefused, ...settings } = tally.settings(row.settings, asked);
        const job = { ...row, settings };
        const hasImages = this.#addOwn(tally, scope, row, isRefused);
        const end = hasImages && !isRefused ? job.imageCount : 0;
        let from = 0;
        do {
          this.#addAsked(tally, scope, asked, job, from, Math.min(from + IMAGES_PER_STEP, end));
          from += IMAGES_PER_STEP;
          yield;
        } while (from < end);
      }
      const last = jobs.length < JOBS_PER_READ ? undefined : jobs.at(-1);
      after = last?.number ?? null;
    }
  }

  #addAsked(
    tally: Tally,
    scope: CountScope,
    asked: Asked,
    job: AskedJobRow,
    from: number,
    until: number,
  ): void {
    if (until <= from) return;
    const [first, end] = hourBounds(scope);
    for (const { place, refined } of this.#asked.images(job, asked, from, until)) {
      if (place.hour >= first && place.hour < end) tally.addImage(place, refined);
    }
  }

  /** Adds the part of a job's own rows that every question has. False: it has no image in the hours. */
  #addOwn(tally: Tally, scope: CountScope, job: JobRow, isRefused: boolean): boolean {
    const rows = this.#statements.all(
      `SELECT number, folder, hour, sum FROM job_counts
       WHERE number >= ? AND number < ? AND hour >= ? AND hour < ?`,
      taskId(job.number, 0),
      taskId(job.number + 1, 0),
      ...hourBounds(scope),
    ) as (HourText & Numbered)[];
    this.#asked.remember(rows);
    tally.addJob(job);
    for (const row of rows) tally.addUnasked(row, isRefused);
    return rows.length > 0;
  }

  #jobs(scope: CountScope, after: number): JobRow[] {
    const jobs = jobsAfter(scope, after);
    return this.#statements.all(
      `SELECT number, key_id AS keyId, settings, image_count AS imageCount, succeeded, image_count - finished AS waiting,
         completed_at AS completedAt FROM ${jobs.from} ${jobs.where} ORDER BY number LIMIT ${JOBS_PER_READ}`,
      ...jobs.values,
    ) as JobRow[];
  }
}

const JOBS_PER_READ = 100;

/** A long read: between two steps the thread serves other calls. */
type Steps<T> = Generator<undefined, T>;

interface Numbered {
  number: number;
}

/** Reads rows in the order of their numbers, those after the last one in each step. */
function* inSteps<T extends Numbered>(
  after: number,
  read: (after: number) => T[],
  add: (row: T) => void,
): Steps<void> {
  for (let last: number | undefined = after; last !== undefined;) {
    const rows = read(last);
    for (const row of rows) add(row);
    last = rows.length < ROWS_PER_STEP ? undefined : rows.at(-1)?.number;
    yield;
  }
}

/** `FROM` and `WHERE` of the jobs of the scope after this one. */
function jobsAfter({ jobs }: CountScope, after: number) {
  if (typeof jobs === 'number') return { from: 'jobs', where: 'WHERE number = ?', values: [jobs] };
  const { from, where, values } = conditions(jobs, false);
  return {
    from,
    where: `WHERE ${[...where, 'number > ?'].join(' AND ')}`,
    values: [...values, after],
  };
}

/** Counts as they are added up. */
class Tally {
  readonly #sums = new SumsByHour();
  /** The same sums. */
  readonly #byPlace = new Map<Place, CountSum>();
  readonly #steps = new Map<string, number[]>();
  readonly #settings = new Map<string, AskedJobRow['settings'] & { isRefused: boolean }>();
  readonly #figures = {
    jobs: 0,
    pendingImages: 0,
    notRunImages: 0,
    removedImages: 0,
    unansweredImages: 0,
  };

  addJob({ waiting, completedAt }: Pick<JobRow, 'waiting' | 'completedAt'>): void {
    this.#figures.jobs += 1;
    this.#figures[completedAt === null ? 'pendingImages' : 'notRunImages'] += waiting;
  }

  addRow({ folder, hour, sum }: HourText): void {
    this.#sums.of(folder, hour).merge(JSON.parse(sum) as SumRow);
  }

  addRemoved(images: number): void {
    this.#figures.removedImages += images;
  }

  /** Images without a result, and the sources of all times. */
  addUnasked({ folder, hour, sum }: HourText, isRefused: boolean): void {
    const { images, failed, sources } = JSON.parse(sum) as SumRow;
    if (isRefused) this.#figures.unansweredImages += images;
    else {
      const part = { images: failed, failed, empty: 0, classes: {}, sources };
      this.#sums.of(folder, hour).merge(part);
    }
  }

  addImage(place: Place, { detections, regionCounts }: Refined): void {
    this.#sumAt(place).addBoxes(detections, regionCounts);
    for (const { class: name, confidence } of detections) {
      const steps = this.#stepsOf(name);
      const step = confidenceStep(confidence);
      steps[step] = (steps[step] ?? 0) + 1;
    }
  }

  #sumAt(place: Place): CountSum {
    const known = this.#byPlace.get(place);
    if (known !== undefined) return known;
    const sum = this.#sums.of(place.folder, place.hour);
    this.#byPlace.set(place, sum);
    return sum;
  }

  #stepsOf(className: string): number[] {
    const known = this.#steps.get(className);
    if (known !== undefined) return known;
    const steps: number[] = [];
    this.#steps.set(className, steps);
    return steps;
  }

  /** Settings of a job, by their text: jobs of a watch have the same. `isRefused`: its boxes cannot answer. */
  settings(text: string, { question }: Asked): AskedJobRow['settings'] & { isRefused: boolean } {
    const known = this.#settings.get(text);
    if (known !== undefined) return known;
    const settings = askedSettings(text);
    const read = { ...settings, isRefused: questionFault(settings, question) !== null };
    this.#settings.set(text, read);
    return read;
  }

  result({ jobs }: CountScope): Counted {
    if (typeof jobs === 'number' && this.#figures.jobs === 0) throw jobNotFound();
    return { sums: this.#sums.rows(), steps: [...this.#steps], ...this.#figures };
  }
}

function passes(
  { detections }: Refined,
  { outcome, classes, confidenceBelow }: ImageFilter,
): boolean {
  const isFound = detections.length > 0;
  if (outcome !== undefined && outcome !== (isFound ? 'found' : 'empty')) return false;
  if (classes === undefined && confidenceBelow === undefined) return true;
  const fits = ({ class: name, confidence }: Detection) =>
    (classes?.includes(name) ?? true) && confidence < (confidenceBelow ?? Infinity);
  return detections.some(fits);
}

/** How far the box nearest to its threshold is above it; null without a box. */
function marginOf({ detections }: Refined, options: DetectOptions): number | null {
  const thresholdOf = thresholdsOf(options);
  const margins = detections.map(({ class: name, confidence }) => confidence - thresholdOf(name));
  return margins.length === 0 ? null : Math.min(...margins);
}
