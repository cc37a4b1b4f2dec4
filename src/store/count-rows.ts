/**
 * Images of jobs added up by folder and hour, by the question of their own job: `job_counts` has a narrow row per job,
 * folder and hour; `scope_counts` one for all jobs of a watch or with tags, which stays when retention removes a job.
 */
import { posix } from 'node:path';
import { CountSum, negated, type HourRow, type SumRow } from './count-sum.js';
import type { ImageCounts } from './job.js';
import { MAX_IMAGES, taskId } from './job-records.js';
import type { Statements } from './statements.js';
import { inSteps, ROWS_PER_STEP, type Numbered, type Steps } from './steps.js';

/** An hour of wall time, as rows have it; empty where the time is not known. */
export function hourOf(taken: string | null): string {
  return taken?.slice(0, HOUR_LENGTH) ?? '';
}

const HOUR_LENGTH = '2025-11-26T14'.length;

export const folderOf = ({ path }: Pick<ImageCounts, 'path'>): string => posix.dirname(path);

/** The jobs that are counted together: those of a watch or with the same tags. Texts are as the tables have them. */
export interface Scope {
  owner: string;
  /** Empty: no watch made them. */
  watch: string;
  tags: string;
}

/** Null: it has neither a watch nor tags. */
export function scopeOf(statements: Statements, jobNumber: number): Scope | null {
  const scope = statements.get(
    `SELECT coalesce(key_id, '') AS owner, coalesce(watch, '') AS watch, marked_tags AS tags
     FROM jobs JOIN job_listings ON job = number WHERE number = ?`,
    jobNumber,
  ) as Scope | undefined;
  return scope === undefined || (scope.watch === '' && scope.tags === '') ? null : scope;
}

interface Group {
  folder: string;
  hour: string;
  number: number;
  /** The sum that is stored; null: there is no row yet. */
  stored: string | null;
  /** The images of this batch. */
  added: CountSum;
}

/** The sums of a job to which several images are added. */
export class JobSums {
  readonly #statements: Statements;
  readonly #job: number;
  readonly #isFirst: boolean;
  readonly #groups = new Map<string, Group>();
  /** Number of the next new row; null: to be read. */
  #next: number | null = null;

  /** `isFirst`: the job has no row yet. */
  constructor(statements: Statements, jobNumber: number, isFirst: boolean) {
    this.#statements = statements;
    this.#job = jobNumber;
    this.#isFirst = isFirst;
  }

  /** Returns the number of the row that has the image. Call `save` after the last one. */
  add(image: ImageCounts): number {
    const group = this.#groupOf(folderOf(image), hourOf(image.taken?.time ?? null));
    group.added.add(image);
    return group.number;
  }

  save(): void {
    const scope = scopeOf(this.#statements, this.#job);
    for (const { number, folder, hour, stored, added } of this.#groups.values()) {
      const row = added.toRow();
      if (stored === null) {
        const sql = 'INSERT INTO job_counts (number, folder, hour, sum) VALUES (?, ?, ?, ?)';
        this.#statements.run(sql, number, folder, hour, JSON.stringify(row));
      } else {
        const sum = JSON.stringify(summed(stored, row));
        this.#statements.run('UPDATE job_counts SET sum = ? WHERE number = ?', sum, number);
      }
      if (scope !== null) addToScope(this.#statements, scope, { folder, hour }, row);
    }
  }

  #groupOf(folder: string, hour: string): Group {
    const key = `${hour} ${folder}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const row = this.#isFirst ? undefined : this.#row(folder, hour);
    const { number, sum: stored } = row ?? { number: this.#newNumber(), sum: null };
    const group = { folder, hour, number, stored, added: new CountSum() };
    this.#groups.set(key, group);
    return group;
  }

  #row(folder: string, hour: string): { number: number; sum: string } | undefined {
    return this.#statements.get(
      `SELECT number, sum FROM job_counts WHERE number / ${MAX_IMAGES} = ? AND hour = ? AND folder = ?`,
      this.#job,
      hour,
      folder,
    ) as { number: number; sum: string } | undefined;
  }

  #newNumber(): number {
    this.#next ??= this.#isFirst ? taskId(this.#job, 0) : this.#afterLast();
    return this.#next++;
  }

  #afterLast(): number {
    const { next } = this.#statements.get(
      `SELECT coalesce(max(number) + 1, ?1) AS next FROM job_counts WHERE number >= ?1 AND number < ?2`,
      taskId(this.#job, 0),
      taskId(this.#job + 1, 0),
    ) as { next: number };
    return next;
  }
}

function summed(stored: string, row: SumRow): SumRow {
  const sum = new CountSum(JSON.parse(stored) as SumRow);
  sum.merge(row);
  return sum.toRow();
}

const OF_SCOPE = 'owner = ? AND watch = ? AND tags = ? AND folder = ? AND hour = ?';

type At = Pick<HourRow, 'folder' | 'hour'>;

const keyOf = ({ owner, watch, tags }: Scope, { folder, hour }: At): string[] => [
  ...[owner, watch, tags],
  ...[folder, hour],
];

/** Adds to the sum of a scope. `row` may be negative: a sum without an image goes. */
function addToScope(statements: Statements, scope: Scope, at: At, row: SumRow): void {
  const key = keyOf(scope, at);
  const sql = `SELECT number, sum FROM scope_counts WHERE ${OF_SCOPE}`;
  const stored = statements.get(sql, ...key) as { number: number; sum: string } | undefined;
  if (stored === undefined) {
    statements.run(
      'INSERT INTO scope_counts (owner, watch, tags, folder, hour, sum) VALUES (?, ?, ?, ?, ?, ?)',
      ...key,
      JSON.stringify(row),
    );
    return;
  }
  const sum = summed(stored.sum, row);
  if (sum.images <= 0) {
    statements.run('DELETE FROM scope_counts WHERE number = ?', stored.number);
  } else {
    const update = 'UPDATE scope_counts SET sum = ? WHERE number = ?';
    statements.run(update, JSON.stringify(sum), stored.number);
  }
}

/** The jobs of a watch, with a tag, or both; of one owner, or of all where it is null. */
export interface JobsOf {
  keyId: string | null;
  watch?: string | undefined;
  tag?: string | undefined;
}

/** Jobs that are counted, and the hours of their images: `from` is the first one, `until` follows the last. */
export interface CountScope {
  jobs: number | JobsOf;
  from?: string | undefined;
  until?: string | undefined;
  /** Images of removed jobs are not counted. */
  isStored?: boolean;
}

/** Reads the rows of a job. */
export function rowsOfJob(
  statements: Statements,
  jobNumber: number,
  add: (row: HourText) => void,
): Steps<void> {
  const sql = `SELECT number, folder, hour, sum FROM job_counts WHERE number > ? AND number < ?
    ORDER BY number LIMIT ${ROWS_PER_STEP}`;
  const end = taskId(jobNumber + 1, 0);
  const read = (after: number) => statements.all(sql, after, end) as (HourText & Numbered)[];
  return inSteps(taskId(jobNumber, 0) - 1, read, add);
}

/** After each hour, whose year begins with a digit. */
const AFTER_ALL = ':';

/** The first hour that counts and the one that no longer does; without bounds images without a time count too. */
export function hourBounds({ from, until }: CountScope): [from: string, until: string] {
  const isBounded = from !== undefined || until !== undefined;
  // The empty hour is before all others.
  return [from ?? (isBounded ? '0' : ''), until ?? AFTER_ALL];
}

/** Counts when jobs are removed or have other tags. */
export class ScopeCounts {
  readonly #statements: Statements;
  readonly #most: number;
  /** How often jobs were removed. While it is the same, what was read of jobs in several steps belongs together. */
  moves = 0;

  /** `most`: so many rows each owner has, as far as they are of removed jobs. */
  constructor(statements: Statements, most: number) {
    this.#statements = statements;
    this.#most = most;
  }

  /**
   * Notes the removal of a job; `take` follows. `isKept`: its images stay counted, but for those that are taken back.
   */
  jobRemoved(number: number, isKept: boolean, takenBack: readonly HourRow[] = []): void {
    this.moves += 1;
    const scope = scopeOf(this.#statements, number);
    if (scope !== null) for (const row of takenBack) this.#takeBack(scope, row);
    const { owner = null, watch = null, tags = '' } = scope ?? {};
    this.#statements.run(
      'INSERT INTO swept_jobs (number, owner, watch, tags, kept) VALUES (?, ?, ?, ?, ?)',
      number,
      owner,
      watch,
      tags,
      isKept && this.#most > 0 ? 1 : 0,
    );
  }

  /** `take` notes all images of the job as removed. */
  #takeBack(scope: Scope, { sum, ...at }: HourRow): void {
    this.#noteRemoved(scope, at, sum.images);
    addToScope(this.#statements, scope, at, sum);
  }

  #noteRemoved(scope: Scope, at: At, images: number): void {
    const sql = `UPDATE scope_counts SET removed = removed + ? WHERE ${OF_SCOPE}`;
    this.#statements.run(sql, images, ...keyOf(scope, at));
  }

  /** Removes rows of a removed job, at most `limit`. Returns how many. */
  take({ number, owner, watch, tags, kept }: SweptJob, limit: number): number {
    const rows = this.#statements.all(
      `DELETE FROM job_counts WHERE number IN
         (SELECT number FROM job_counts WHERE number >= ? AND number < ? ORDER BY number LIMIT ?)
       RETURNING folder, hour, sum`,
      taskId(number, 0),
      taskId(number + 1, 0),
      limit,
    ) as HourText[];
    if (owner === null) return rows.length;
    const scope = { owner, watch: watch ?? '', tags };
    for (const { sum: text, ...at } of rows) {
      const sum = JSON.parse(text) as SumRow;
      if (kept === 0) addToScope(this.#statements, scope, at, negated(sum));
      else this.#noteRemoved(scope, at, sum.images);
    }
    return rows.length;
  }

  /** Counts the images of a job where its tags of now say. `before`: where they were counted. */
  relabelled(jobNumber: number, before: Scope | null): void {
    const now = scopeOf(this.#statements, jobNumber);
    if (now?.tags === before?.tags) return;
    const rows = this.#statements.all(
      'SELECT folder, hour, sum FROM job_counts WHERE number >= ? AND number < ?',
      taskId(jobNumber, 0),
      taskId(jobNumber + 1, 0),
    ) as HourText[];
    for (const { sum: text, ...at } of rows) {
      const sum = JSON.parse(text) as SumRow;
      if (before !== null) addToScope(this.#statements, before, at, negated(sum));
      if (now !== null) addToScope(this.#statements, now, at, sum);
    }
  }

  /** Removes the oldest rows of removed images of owners that have too many rows, at most `limit` of each. */
  trim(limit: number): number {
    const beyond = this.#statements.all(
      'SELECT owner, count(*) - ?1 AS rows FROM scope_counts GROUP BY owner HAVING count(*) > ?1',
      this.#most,
    ) as { owner: string; rows: number }[];
    const removed = beyond.map(({ owner, rows }) =>
      this.#statements.run(
        `DELETE FROM scope_counts WHERE number IN
           (SELECT number FROM scope_counts WHERE owner = ? AND removed >= sum ->> 'images' ORDER BY number LIMIT ?)`,
        owner,
        Math.min(rows, limit),
      ),
    );
    return removed.reduce((sum, each) => sum + each, 0);
  }
}

/** A removed job whose counts and images are still to be removed. Without an owner it has no scope. */
export interface SweptJob {
  number: number;
  owner: string | null;
  watch: string | null;
  tags: string;
  /** 1: its images stay counted. */
  kept: number;
}

/** `sum`: JSON of a `SumRow`. */
export type HourText = At & { sum: string };
