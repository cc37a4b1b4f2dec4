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
  whereHours,
  whereJobs,
  type CountScope,
  type HourText,
  type JobsOf,
  type ScopeCounts,
} from './count-rows.js';
import { SumsByHour, type CountSum, type HourRow, type SumRow } from './count-sum.js';
import { jobNotFound } from './job.js';
import { taskId } from './job-records.js';
import { askedSettings } from './job-rows.js';
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

interface JobRow {
  number: number;
  keyId: string | null;
  settings: string;
  imageCount: number;
  succeeded: number;
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
    const [job] = this.#jobs({ jobs: jobNumber }, 0);
    if (job === undefined) throw jobNotFound();
    const settings = askedSettings(job.settings);
    const options = optionsWith(settings.options, asked.question);
    const passing: { index: number; margin: number }[] = [];
    try {
      for (let from = 0; from < job.imageCount; from += IMAGES_PER_STEP) {
        const row = { ...job, settings };
        for (const { index, refined } of this.#asked.images(
          row,
          asked,
          from,
          from + IMAGES_PER_STEP,
        )) {
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
    if (typeof jobs !== 'number') {
      yield* this.#countScope(tally, { ...scope, jobs }, asked === null);
      if (asked === null) yield* this.#countJobs(tally, scope);
    } else if (asked === null) yield* this.#countJob(tally, jobs);
    if (asked !== null) yield* this.#countAsked(tally, scope, asked);
  }

  /** Images of jobs and of removed ones. `isCounted`: false notes the removed ones only. */
  *#countScope(
    tally: Tally,
    scope: CountScope & { jobs: JobsOf },
    isCounted: boolean,
  ): Steps<void> {
    const hours = whereHours(scope);
    const where = whereJobs(scope.jobs, { owner: 'owner', watch: 'watch', tags: 'tags' });
    const clauses = [...where.clauses, ...hours.clauses, ...(isCounted ? [] : ['removed > 0'])];
    for (let after = 0, isLast = false; !isLast;) {
      const rows = this.#statements.all(
        `SELECT number, folder, hour, sum, removed FROM scope_counts
         WHERE ${[...clauses, 'number > ?'].join(' AND ')} ORDER BY number LIMIT ${ROWS_PER_STEP}`,
        ...where.values,
        ...hours.values,
        after,
      ) as (HourText & { number: number; removed: number })[];
      for (const row of rows) {
        tally.addRemoved(row.removed);
        if (isCounted) tally.addRow(row);
      }
      isLast = rows.length < ROWS_PER_STEP;
      after = rows.at(-1)?.number ?? after;
      yield;
    }
  }

  *#countJobs(tally: Tally, scope: CountScope): Steps<void> {
    for (let from = 0, isLast = false; !isLast;) {
      const jobs = wherePart(scope, from);
      const rows = this.#statements.all(
        `SELECT jobs.number, image_count - finished AS waiting, completed_at AS completedAt
         FROM ${jobs.from} ${jobs.where} ORDER BY jobs.number LIMIT ${ROWS_PER_STEP}`,
        ...jobs.values,
      ) as Pick<JobRow, 'number' | 'waiting' | 'completedAt'>[];
      for (const row of rows) tally.addJob(row);
      isLast = rows.length < ROWS_PER_STEP;
      from = (rows.at(-1)?.number ?? from) + 1;
      yield;
    }
  }

  *#countJob(tally: Tally, jobNumber: number): Steps<void> {
    for (const job of this.#jobs({ jobs: jobNumber }, 0)) tally.addJob(job);
    for (let after = taskId(jobNumber, 0) - 1, isLast = false; !isLast;) {
      const rows = this.#statements.all(
        `SELECT number, folder, hour, sum FROM job_counts WHERE number > ? AND number < ?
         ORDER BY number LIMIT ${ROWS_PER_STEP}`,
        after,
        taskId(jobNumber + 1, 0),
      ) as (HourText & { number: number })[];
      for (const row of rows) tally.addRow(row);
      isLast = rows.length < ROWS_PER_STEP;
      after = rows.at(-1)?.number ?? after;
      yield;
    }
  }

  *#countAsked(tally: Tally, scope: CountScope, asked: Asked): Steps<void> {
    let images = 0;
    for (let next: number | null = 0; next !== null;) {
      const jobs = this.#jobs(scope, next);
      for (const job of jobs) {
        const isAnswered = this.#addOwn(tally, scope, asked, job);
        const end = isAnswered ? job.imageCount : 0;
        for (let from = 0; from < end; from += IMAGES_PER_STEP) {
          const until = Math.min(from + IMAGES_PER_STEP, end);
          this.#addAsked(tally, scope, asked, job, from, until);
          images += until - from + JOB_COST;
          if (images >= IMAGES_PER_STEP) {
            images = 0;
            yield;
          }
        }
      }
      const last = jobs.length < JOBS_PER_READ ? undefined : jobs.at(-1);
      next = last === undefined || typeof scope.jobs === 'number' ? null : last.number + 1;
    }
  }

  #addAsked(
    tally: Tally,
    scope: CountScope,
    asked: Asked,
    { keyId, ...job }: JobRow,
    from: number,
    until: number,
  ): void {
    const row = { ...job, keyId, settings: tally.settings(job.settings) };
    for (const { place, refined } of this.#asked.images(row, asked, from, until)) {
      if (isWithin(scope, place.hour)) tally.addImage(place, refined);
    }
  }

  /** Adds the part of a job's own rows that every question has. False: its boxes have nothing to add. */
  #addOwn(tally: Tally, scope: CountScope, asked: Asked, job: JobRow): boolean {
    const isAnswered = !tally.isRefused(job.settings, asked);
    const hours = whereHours(scope);
    const rows = this.#statements.all(
      `SELECT number, folder, hour, sum FROM job_counts
       WHERE ${['number >= ?', 'number < ?', ...hours.clauses].join(' AND ')}`,
      taskId(job.number, 0),
      taskId(job.number + 1, 0),
      ...hours.values,
    ) as (HourText & { number: number })[];
    this.#asked.remember(rows);
    tally.addJob(job);
    for (const row of rows) tally.addUnasked(row, isAnswered);
    return isAnswered && rows.length > 0;
  }

  #jobs(scope: CountScope, from: number): JobRow[] {
    const jobs = wherePart(scope, from);
    return this.#statements.all(
      `SELECT jobs.number, key_id AS keyId, settings, image_count AS imageCount, succeeded, image_count - finished AS waiting,
         completed_at AS completedAt FROM ${jobs.from} ${jobs.where} ORDER BY jobs.number LIMIT ${JOBS_PER_READ}`,
      ...jobs.values,
    ) as JobRow[];
  }
}

/** A job takes as long as so many images. */
const JOB_COST = 3;
const JOBS_PER_READ = 100;

/** A long read: between two steps the thread serves other calls. */
type Steps<T> = Generator<undefined, T>;

/** `FROM` and `WHERE` of the jobs of the scope from this one on. */
function wherePart({ jobs }: CountScope, from: number) {
  if (typeof jobs === 'number') {
    return { from: 'jobs', where: 'WHERE jobs.number = ?', values: [jobs] };
  }
  const columns = { owner: 'key_id', watch: 'watch', tags: 'marked_tags' };
  const { clauses, values } = whereJobs(jobs, columns);
  return {
    from: jobs.tag === undefined ? 'jobs' : 'job_listings CROSS JOIN jobs ON jobs.number = job',
    where: `WHERE ${[...clauses, 'jobs.number >= ?'].join(' AND ')}`,
    values: [...values, from],
  };
}

const isWithin = ({ from, until }: CountScope, hour: string): boolean =>
  (from === undefined ? until === undefined || hour !== '' : hour >= from) &&
  (until === undefined || hour < until);

/** Counts as they are added up. */
class Tally {
  readonly #sums = new SumsByHour();
  /** The same sums. */
  readonly #byPlace = new Map<Place, CountSum>();
  readonly #steps = new Map<string, number[]>();
  readonly #settings = new Map<string, AskedJobRow['settings']>();
  readonly #refused = new Map<string, boolean>();
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
  addUnasked({ folder, hour, sum }: HourText, isAnswered: boolean): void {
    const { images, failed, sources } = JSON.parse(sum) as SumRow;
    if (!isAnswered) this.#figures.unansweredImages += images;
    else {
      const part = { images: failed, failed, empty: 0, classes: {}, sources };
      this.#sums.of(folder, hour).merge(part);
    }
  }

  addImage(place: Place, { detections, regionCounts }: Refined): void {
    const sum = this.#byPlace.get(place) ?? this.#sums.of(place.folder, place.hour);
    this.#byPlace.set(place, sum);
    sum.addBoxes(detections, regionCounts);
    for (const { class: name, confidence } of detections) {
      const steps = this.#steps.get(name) ?? [];
      this.#steps.set(name, steps);
      const step = confidenceStep(confidence);
      steps[step] = (steps[step] ?? 0) + 1;
    }
  }

  /** Jobs of a watch have the same text. */
  settings(text: string): AskedJobRow['settings'] {
    const settings = this.#settings.get(text) ?? askedSettings(text);
    this.#settings.set(text, settings);
    return settings;
  }

  isRefused(text: string, { question }: Asked): boolean {
    const isRefused =
      this.#refused.get(text) ?? questionFault(this.settings(text), question) !== null;
    this.#refused.set(text, isRefused);
    return isRefused;
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
