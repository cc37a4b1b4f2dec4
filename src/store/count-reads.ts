/** Counts over the images of jobs, by their own question or by another one. */
import { LatticeError } from '../api/errors.js';
import { optionsWith } from '../api/question.js';
import { CAMERAS, STATIC_CHOICES, type ImageFilter } from '../api/job-values.js';
import type { DetectOptions } from '../api/options.js';
import type { Detection } from '../api/schemas/image.js';
import { thresholdsOf } from '../boxes/refine-detections.js';
import type { Asked, Refined } from './asked-boxes.js';
import { AskedRows, NeedsView } from './asked-rows.js';
import {
  hourBounds,
  rowsOfJob,
  type CountScope,
  type HourText,
  type JobsOf,
  type ScopeCounts,
} from './count-rows.js';
import { CameraPictures, type PictureRule } from './cameras/camera-pictures.js';
import { eventRows, type CountedEvents, type EventRule } from './cameras/event-rows.js';
import { negated } from './count-sum.js';
import { DismissedPlaces } from './cameras/dismissed-places.js';
import { dismissedSums } from './cameras/dismissed-sums.js';
import { Tally, type CountFigures, type Counted, type CountedJob } from './count-tally.js';
import { jobNotFound } from './job.js';
import { partsOf, type AskedJobRow } from './job-parts.js';
import { taskId } from './job-records.js';
import { runsAgain, takenBackIn } from './retried-jobs.js';
import { inSteps, ROWS_PER_STEP, type Numbered, type Steps } from './steps.js';
import { conditions } from './job-reads.js';
import { askedSettings } from './job-rows.js';
import { placeRows, type FoundPlaces } from './cameras/place-rows.js';
import { standingSums } from './cameras/standing-boxes.js';
import { standingImages, type StandingImages } from './cameras/standing-images.js';
import { markedTag } from './marked-tags.js';
import type { Statements } from './statements.js';

/** Jobs of which one is removed while they are read are read again. */
const TRIES = 5;

/** A page of the images of a job that pass a filter. */
export interface Passing {
  indexes: number[];
  /** How many there are. */
  matching: number;
}

interface PassingPage {
  byMargin: boolean;
  offset: number;
  limit: number;
}

/** A view whose regions the question needs, by name and version as JSON: the call is to be made again with them. */
export interface ViewNeeded {
  view: string;
  keyId: string | null;
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
   * Counts by the question of each job, or by another one. Throws `storage_unavailable` where jobs of a scope whose
   * jobs are read were removed during each try.
   */
  *countSums(scope: CountScope, asked: Asked | null): Answer<Counted> {
    const hasJobs =
      asked !== null || scope.isStored === true || runsAgain(this.#statements, scope).length > 0;
    return yield* this.#undisturbed(hasJobs && isOfMany(scope), () => this.#count(scope, asked));
  }

  /** Like `countSums`, without the boxes in dismissed places of the images of stored jobs. */
  *countUndismissed(scope: CountScope, asked: Asked | null): Answer<Counted> {
    const keyId = typeof scope.jobs === 'number' ? null : scope.jobs.keyId;
    const dismissed = new DismissedPlaces(this.#statements, keyId);
    if (dismissed.folders.size === 0) return yield* this.countSums(scope, asked);
    return yield* this.#undisturbed(isOfMany(scope), () =>
      this.#countUndismissed(scope, asked, dismissed),
    );
  }

  /** Like `countSums`, of the boxes that stand, or of the others; with an empty question by that of each job. */
  *countStanding(scope: CountScope, asked: Asked, rule: PictureRule): Answer<Counted> {
    return yield* this.#undisturbed(isOfMany(scope), () => this.#countStanding(scope, asked, rule));
  }

  /** Which boxes of the images of a job are of vehicles that stand, by the question. */
  *standingImages(
    job: Pick<CountedJob, 'number' | 'imageCount'>,
    asked: Asked,
    rule: PictureRule,
  ): Answer<StandingImages> {
    return yield* this.#undisturbed(false, () => this.#standingImages(job, asked, rule));
  }

  /**
   * Events of the images of jobs that are stored, by the question of each job or by another one; one is needed, which
   * may be empty, where not all boxes are counted. Throws like `countSums`.
   */
  *countEvents(scope: CountScope, asked: Asked | null, rule: EventRule): Answer<CountedEvents> {
    return yield* this.#undisturbed(isOfMany(scope), () => this.#countEvents(scope, asked, rule));
  }

  /**
   * Images of a job with a result whose boxes pass, in input order or by how far the box nearest to its threshold is
   * above it.
   */
  *passing(
    jobNumber: number,
    asked: Asked,
    filter: ImageFilter,
    page: PassingPage,
  ): Answer<Passing> {
    return yield* this.#undisturbed(false, () => this.#pass(jobNumber, asked, filter, page));
  }

  /** Places in which vehicles stood, in the images of jobs that are stored. Throws like `countSums`. */
  *findPlaces(scope: CountScope, asked: Asked, rule: PictureRule): Answer<FoundPlaces> {
    return yield* this.#undisturbed(isOfMany(scope), () => this.#findPlaces(scope, asked, rule));
  }

  /**
   * Reads until a view is needed, or until it has read all; `isOfMany`: of jobs of which none was removed meanwhile, so
   * that what it has read belongs together.
   */
  *#undisturbed<T>(isOfMany: boolean, read: () => Steps<T>): Answer<T> {
    for (let tried = 0; tried < TRIES; tried++) {
      const { moves } = this.#scopes;
      try {
        const result = yield* read();
        if (!isOfMany || moves === this.#scopes.moves) return result;
      } catch (error) {
        if (!(error instanceof NeedsView)) throw error;
        return { viewNeeded: error.needed };
      }
    }
    const detail = 'Results are being removed: their counts cannot be read at the moment.';
    throw new LatticeError('storage_unavailable', detail, { retryAfterS: 5 });
  }

  *#pass(
    jobNumber: number,
    asked: Asked,
    filter: ImageFilter,
    { byMargin, offset, limit }: PassingPage,
  ): Steps<Passing> {
    const [row] = this.#jobs({ jobs: jobNumber }, 0);
    if (row === undefined) throw jobNotFound();
    const job = { ...row, settings: askedSettings(row.settings) };
    const options = optionsWith(job.settings.options, asked.question);
    const passing: { index: number; margin: number }[] = [];
    for (const parts of partsOf([job])) {
      for (const { index, refined } of this.#asked.images(parts, asked)) {
        const margin = byMargin ? marginOf(refined, options) : 0;
        if (margin !== null && passes(refined, filter)) passing.push({ index, margin });
      }
      yield;
    }
    if (byMargin) passing.sort((a, b) => a.margin - b.margin || a.index - b.index);
    const page = passing.slice(offset, offset + limit);
    return { indexes: page.map(({ index }) => index), matching: passing.length };
  }

  *#standingImages(
    { number, imageCount }: Pick<CountedJob, 'number' | 'imageCount'>,
    asked: Asked,
    rule: PictureRule,
  ): Steps<StandingImages> {
    const { pictures } = yield* this.#pictures({ jobs: number }, asked, rule);
    const dismissed = new DismissedPlaces(this.#statements);
    return yield* standingImages(pictures, asked, dismissed, imageCount);
  }

  *#countEvents(scope: CountScope, asked: Asked | null, rule: EventRule): Steps<CountedEvents> {
    const { pictures, figures } = yield* this.#pictures(scope, asked, rule);
    const events = yield* eventRows(this.#statements, pictures, asked, rule);
    return { events, ...figures };
  }

  /** Images may end between the two reads: those of the first are among those of the second. */
  *#countUndismissed(
    scope: CountScope,
    asked: Asked | null,
    dismissed: DismissedPlaces,
  ): Steps<Counted> {
    const rule = { camera: CAMERAS[0], static: STATIC_CHOICES[0] };
    const { pictures } = yield* this.#pictures(scope, asked, rule);
    const left = yield* dismissedSums(this.#statements, pictures, asked, dismissed);
    const counted = yield* this.#count(scope, asked);
    const sums = left.map(({ sum, ...at }) => ({ ...at, sum: negated(sum) }));
    return { ...counted, sums: [...counted.sums, ...sums] };
  }

  *#countStanding(scope: CountScope, asked: Asked, rule: PictureRule): Steps<Counted> {
    const { pictures, figures } = yield* this.#pictures(scope, asked, rule);
    const sums = yield* standingSums(this.#statements, pictures, asked, rule.static);
    return { sums, steps: [], ...figures };
  }

  *#findPlaces(scope: CountScope, asked: Asked, rule: PictureRule): Steps<FoundPlaces> {
    const { pictures, figures } = yield* this.#pictures(scope, asked, rule);
    const places = yield* placeRows(this.#statements, pictures, asked);
    return { places, ...figures };
  }

  /** The pictures of the images of stored jobs. */
  *#pictures(
    scope: CountScope,
    asked: Asked | null,
    { camera }: PictureRule,
  ): Steps<{ pictures: CameraPictures; figures: CountFigures }> {
    const { jobs } = scope;
    const tally = new Tally(yield* takenBackIn(this.#statements, scope));
    if (typeof jobs !== 'number') yield* this.#countScope(tally, { ...scope, jobs }, false);
    const pictures = new CameraPictures(this.#statements, camera, hourBounds(scope));
    yield* pictures.gather(this.#answering(tally, scope, asked));
    return { pictures, figures: tally.figures(scope) };
  }

  *#count(scope: CountScope, asked: Asked | null): Steps<Counted> {
    const { jobs, isStored = typeof jobs === 'number' } = scope;
    const tally = new Tally(yield* takenBackIn(this.#statements, scope));
    if (typeof jobs !== 'number')
      yield* this.#countScope(tally, { ...scope, jobs }, asked === null && !isStored);
    if (asked !== null) yield* this.#countAsked(tally, scope, asked);
    else if (!isStored) yield* this.#countJobs(tally, scope);
    else for (const job of this.#eachJob(scope)) yield* this.#countJob(tally, job);
    if (asked === null) tally.takeBack();
    return tally.result(scope);
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
        AND hour >= ? AND hour < ? AND (? OR removed > 0) ORDER BY number LIMIT ${ROWS_PER_STEP}`;
    const values = [keyId, watch ?? null, tag === undefined ? '' : markedTag(tag)];
    const read = (after: number) =>
      this.#statements.all(
        sql,
        after,
        ...values,
        ...hourBounds(scope),
        Number(isCounted),
      ) as (HourText & Numbered & { removed: number })[];
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
      ) as Pick<CountedJob, 'number' | 'waiting' | 'completedAt'>[];
    };
    yield* inSteps(0, read, (row) => {
      tally.addJob(row);
    });
  }

  *#countJob(tally: Tally, job: CountedJob): Steps<void> {
    tally.addJob(job);
    yield* rowsOfJob(this.#statements, job.number, (row) => {
      tally.addRow(row);
    });
  }

  *#countAsked(tally: Tally, scope: CountScope, asked: Asked): Steps<void> {
    const [first, end] = hourBounds(scope);
    for (const parts of partsOf(this.#answering(tally, scope, asked))) {
      for (const { place, refined } of this.#asked.images(parts, asked)) {
        if (place.hour >= first && place.hour < end) tally.addImage(place, refined);
      }
      yield;
    }
  }

  /** Jobs with images in the hours whose boxes can answer; null for another one. */
  *#answering(
    tally: Tally,
    scope: CountScope,
    asked: Asked | null,
  ): Generator<AskedJobRow | null, void> {
    for (const row of this.#eachJob(scope)) {
      const { isRefused, ...settings } = tally.settings(row.settings, asked);
      const runAgain = tally.runAgain(row.number);
      const hasImages = this.#addOwn(tally, scope, row, isRefused) && runAgain !== 'all';
      yield hasImages && !isRefused ? { ...row, settings, isRetried: runAgain === 'failed' } : null;
    }
  }

  /** Adds the part of a job's own rows that every question has. False: it has no image in the hours. */
  #addOwn(tally: Tally, scope: CountScope, job: CountedJob, isRefused: boolean): boolean {
    const rows = this.#statements.all(
      `SELECT number, folder, hour, sum FROM job_counts
       WHERE number >= ? AND number < ? AND hour >= ? AND hour < ?`,
      taskId(job.number, 0),
      taskId(job.number + 1, 0),
      ...hourBounds(scope),
    ) as (HourText & Numbered)[];
    this.#asked.remember(rows);
    tally.addJob(job);
    tally.addUnasked(job.number, rows, isRefused);
    return rows.length > 0;
  }

  *#eachJob(scope: CountScope): Generator<CountedJob, void> {
    for (let after: number | null = 0; after !== null;) {
      const jobs = this.#jobs(scope, after);
      yield* jobs;
      const last = jobs.length < JOBS_PER_READ ? undefined : jobs.at(-1);
      after = last?.number ?? null;
    }
  }

  #jobs(scope: CountScope, after: number): CountedJob[] {
    const jobs = jobsAfter(scope, after);
    return this.#statements.all(
      `SELECT number, key_id AS keyId, settings, image_count AS imageCount, succeeded, image_count - finished AS waiting,
         completed_at AS completedAt FROM ${jobs.from} ${jobs.where} ORDER BY number LIMIT ${JOBS_PER_READ}`,
      ...jobs.values,
    ) as CountedJob[];
  }
}

const JOBS_PER_READ = 100;

type Answer<T> = Steps<T | { viewNeeded: ViewNeeded }>;

const isOfMany = ({ jobs }: CountScope): boolean => typeof jobs !== 'number';

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
