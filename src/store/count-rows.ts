/**
 * Images of jobs added up by folder and hour, by the question of their own job: `job_counts` has a narrow row per job,
 * folder and hour; `scope_counts` one for all jobs of a watch or with tags, which stays when retention removes a job.
 */
import { posix } from 'node:path';
import { CountSum, type HourRow, type SumRow } from './count-sum.js';
import type { ImageCounts } from './job.js';
import { MAX_IMAGES, taskId } from './job-records.js';
import { markedTag } from './marked-tags.js';
import type { Statements } from './statements.js';

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
  /** It has no row yet. */
  isNew: boolean;
  sum: CountSum;
  /** The images of this batch. */
  added: CountSum;
}

/** The sums of a job to which several images are added. */
export class JobSums {
  readonly #statements: Statements;
  readonly #job: number;
  readonly #groups = new Map<string, Group>();
  /** Number of the next new row; null: to be read. */
  #next: number | null;
  readonly #isFirst: boolean;

  /** `isFirst`: the job has no row yet. */
  constructor(statements: Statements, jobNumber: number, isFirst: boolean) {
    this.#statements = statements;
    this.#job = jobNumber;
    this.#isFirst = isFirst;
    this.#next = isFirst ? taskId(jobNumber, 0) : null;
  }

  /** Returns the number of the row that has the image. Call `save` after the last one. */
  add(image: ImageCounts): number {
    const { number, sum, added } = this.#groupOf(
      folderOf(image),
      hourOf(image.taken?.time ?? null),
    );
    sum.add(image);
    added.add(image);
    return number;
  }

  save(): void {
    const scope = scopeOf(this.#statements, this.#job);
    for (const { number, isNew, folder, hour, sum, added } of this.#groups.values()) {
      const text = JSON.stringify(sum.toRow());
      if (isNew) {
        const sql = 'INSERT INTO job_counts (number, folder, hour, sum) VALUES (?, ?, ?, ?)';
        this.#statements.run(sql, number, folder, hour, text);
      } else this.#statements.run('UPDATE job_counts SET sum = ? WHERE number = ?', text, number);
      if (scope === null) continue;
      changeScope(this.#statements, scope, { folder, hour }, (all) => {
        all.merge(added.toRow());
      });
    }
  }

  #groupOf(folder: string, hour: string): Group {
    const key = `${hour} ${folder}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const stored = this.#isFirst ? undefined : this.#stored(folder, hour);
    const group = {
      ...{ folder, hour, isNew: stored === undefined, added: new CountSum() },
      ...(stored ?? { number: this.#newNumber(), sum: new CountSum() }),
    };
    this.#groups.set(key, group);
    return group;
  }

  #stored(folder: string, hour: string): Pick<Group, 'number' | 'sum'> | undefined {
    const row = this.#statements.get(
      `SELECT number, sum FROM job_counts WHERE number / ${MAX_IMAGES} = ? AND hour = ? AND folder = ?`,
      this.#job,
      hour,
      folder,
    ) as { number: number; sum: string } | undefined;
    return row && { number: row.number, sum: new CountSum(JSON.parse(row.sum) as SumRow) };
  }

  #newNumber(): number {
    this.#next ??= this.#afterLast();
    return this.#next++;
  }

  #afterLast(): number {
    const first = taskId(this.#job, 0);
    const { next } = this.#statements.get(
      `SELECT coalesce(max(number) + 1, ?1) AS next FROM job_counts
       WHERE number >= ?1 AND number < ?1 + ${MAX_IMAGES}`,
      first,
    ) as { next: number };
    return next;
  }
}

/** Changes the sum of a scope; a row without an image goes. `removed`: so many more of its images are removed. */
function changeScope(
  statements: Statements,
  { owner, watch, tags }: Scope,
  { folder, hour }: Pick<HourRow, 'folder' | 'hour'>,
  change: (sum: CountSum) => void,
  removed = 0,
): void {
  const key = [owner, watch, tags, folder, hour];
  const row = statements.get(
    'SELECT number, sum FROM scope_counts WHERE owner = ? AND watch = ? AND tags = ? AND folder = ? AND hour = ?',
    ...key,
  ) as { number: number; sum: string } | undefined;
  const sum = new CountSum(row && (JSON.parse(row.sum) as SumRow));
  change(sum);
  const text = JSON.stringify(sum.toRow());
  if (row === undefined) {
    const columns = 'owner, watch, tags, folder, hour, sum, removed';
    const sql = `INSERT INTO scope_counts (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
    statements.run(sql, ...key, text, removed);
  } else if (sum.images <= 0) {
    statements.run('DELETE FROM scope_counts WHERE number = ?', row.number);
  } else {
    const sql = 'UPDATE scope_counts SET sum = ?, removed = removed + ? WHERE number = ?';
    statements.run(sql, text, removed, row.number);
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
}

type Value = string | number;

/** Conditions on columns of jobs or of `scope_counts`, by the names that these have there. */
export function whereJobs(
  { keyId, watch, tag }: JobsOf,
  columns: { owner: string; watch: string; tags: string },
): { clauses: string[]; values: Value[] } {
  const given: [clause: string, value: string | null | undefined][] = [
    [`${columns.owner} = ?`, keyId],
    [`${columns.watch} = ?`, watch],
    [`instr(${columns.tags}, ?)`, tag && markedTag(tag)],
  ];
  const used = given.flatMap(([clause, value]) =>
    typeof value === 'string' ? [[clause, value] as const] : [],
  );
  return { clauses: used.map(([clause]) => clause), values: used.map(([, value]) => value) };
}

/** The condition on `hour`; without bounds images without a time are counted too. */
export function whereHours({ from, until }: CountScope): { clauses: string[]; values: Value[] } {
  const clauses = [];
  if (from !== undefined) clauses.push('hour >= ?');
  // An empty hour is before all others.
  else if (until !== undefined) clauses.push("hour > ''");
  if (until !== undefined) clauses.push('hour < ?');
  return { clauses, values: [from, until].filter((each) => each !== undefined) };
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

  /** Notes the removal of a job; `take` follows. `isKept`: its images stay counted. */
  jobRemoved(number: number, isKept: boolean): void {
    this.moves += 1;
    const { owner = null, watch = null, tags = '' } = scopeOf(this.#statements, number) ?? {};
    this.#statements.run(
      'INSERT INTO swept_jobs (number, owner, watch, tags, kept) VALUES (?, ?, ?, ?, ?)',
      number,
      owner,
      watch,
      tags,
      isKept && this.#most > 0 ? 1 : 0,
    );
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
      const change = (all: CountSum): void => {
        if (kept === 0) all.subtract(sum);
      };
      changeScope(this.#statements, scope, at, change, kept === 0 ? 0 : sum.images);
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
      if (before !== null)
        changeScope(this.#statements, before, at, (all) => {
          all.subtract(sum);
        });
      if (now !== null)
        changeScope(this.#statements, now, at, (all) => {
          all.merge(sum);
        });
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
export type HourText = Pick<HourRow, 'folder' | 'hour'> & { sum: string };
