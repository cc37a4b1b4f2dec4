/**
 * Images of jobs added up by folder and hour, by the question of their own job: `job_counts` has a narrow row per job,
 * folder and hour. When retention removes a job, its rows become rows of `kept_counts` by watch and tags, which
 * outlive it.
 */
import { posix } from 'node:path';
import { CountSum, type SumRow } from './count-sum.js';
import type { ImageCounts } from './job.js';
import { MAX_IMAGES, taskId } from './job-records.js';
import { markedTag } from './label-rows.js';
import type { Statements } from './statements.js';

/** An hour of wall time, as rows have it; empty where the time is not known. */
export function hourOf(taken: string | null): string {
  return taken?.slice(0, HOUR_LENGTH) ?? '';
}

const HOUR_LENGTH = '2025-11-26T14'.length;

export const folderOf = ({ path }: Pick<ImageCounts, 'path'>): string => posix.dirname(path);

/** The sums of a job to which several images are added. */
export class JobSums {
  readonly #statements: Statements;
  readonly #first: number;
  readonly #groups = new Map<string, { number: number; sum: CountSum }>();

  constructor(statements: Statements, jobNumber: number) {
    this.#statements = statements;
    this.#first = taskId(jobNumber, 0);
  }

  /** Returns the number of the row that has the image. Call `save` after the last one. */
  add(image: ImageCounts): number {
    const { number, sum } = this.#groupOf(folderOf(image), hourOf(image.taken?.time ?? null));
    sum.add(image);
    return number;
  }

  save(): void {
    for (const { number, sum } of this.#groups.values()) {
      const text = JSON.stringify(sum.toRow());
      this.#statements.run('UPDATE job_counts SET sum = ? WHERE number = ?', text, number);
    }
  }

  #groupOf(folder: string, hour: string): { number: number; sum: CountSum } {
    const key = `${hour} ${folder}`;
    const group = this.#groups.get(key) ?? this.#stored(folder, hour) ?? this.#added(folder, hour);
    this.#groups.set(key, group);
    return group;
  }

  #stored(folder: string, hour: string) {
    const row = this.#statements.get(
      `SELECT number, sum FROM job_counts WHERE number / ${MAX_IMAGES} = ? AND hour = ? AND folder = ?`,
      this.#first / MAX_IMAGES,
      hour,
      folder,
    ) as { number: number; sum: string } | undefined;
    return row && { number: row.number, sum: new CountSum(JSON.parse(row.sum) as SumRow) };
  }

  #added(folder: string, hour: string) {
    const number = this.#statements.insert(
      `INSERT INTO job_counts (number, folder, hour, sum)
       VALUES ((SELECT coalesce(max(number) + 1, ?1) FROM job_counts WHERE number >= ?1 AND number < ?1 + ${MAX_IMAGES}), ?2, ?3, '')`,
      this.#first,
      folder,
      hour,
    );
    return { number, sum: new CountSum() };
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

/** Conditions on columns of jobs or of `kept_counts`, by the names that these have there. */
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

/** Rows of jobs that retention has removed. */
export class KeptCounts {
  readonly #statements: Statements;
  readonly #most: number;
  /** How often rows were moved or removed. While it is the same, what was read in several steps belongs together. */
  moves = 0;

  /** `most`: so many rows each owner has. */
  constructor(statements: Statements, most: number) {
    this.#statements = statements;
    this.#most = most;
  }

  /** Notes the removal of a job. Its rows stay where they are until `take`. `isKept`: false removes them then. */
  jobRemoved(number: number, isKept: boolean): void {
    this.moves += 1;
    this.#statements.run(
      `INSERT INTO swept_jobs (number, owner, watch, tags)
       SELECT ?1, CASE WHEN ?2 AND (watch IS NOT NULL OR marked_tags <> '') THEN coalesce(key_id, '') END, watch, marked_tags
       FROM jobs JOIN job_listings ON job = number WHERE number = ?1`,
      number,
      isKept && this.#most > 0 ? 1 : 0,
    );
  }

  /** Moves or removes rows of a removed job, at most `limit`. Returns how many. */
  take({ number, owner, watch, tags }: SweptJob, limit: number): number {
    const rows = this.#statements.all(
      `DELETE FROM job_counts WHERE number IN
         (SELECT number FROM job_counts WHERE number >= ? AND number < ? ORDER BY number LIMIT ?)
       RETURNING folder, hour, sum`,
      taskId(number, 0),
      taskId(number + 1, 0),
      limit,
    ) as { folder: string; hour: string; sum: string }[];
    if (rows.length === 0) return 0;
    this.moves += 1;
    if (owner === null) return rows.length;
    for (const { folder, hour, sum } of rows) {
      this.#keep([owner, watch ?? '', tags, folder, hour], sum);
    }
    return rows.length;
  }

  #keep(
    key: [owner: string, watch: string, tags: string, folder: string, hour: string],
    sum: string,
  ) {
    const of = 'owner = ? AND watch = ? AND tags = ? AND folder = ? AND hour = ?';
    const row = this.#statements.get(`SELECT number, sum FROM kept_counts WHERE ${of}`, ...key) as
      { number: number; sum: string } | undefined;
    if (row === undefined) {
      const sql =
        'INSERT INTO kept_counts (owner, watch, tags, folder, hour, sum) VALUES (?, ?, ?, ?, ?, ?)';
      this.#statements.run(sql, ...key, sum);
      return;
    }
    const both = new CountSum(JSON.parse(row.sum) as SumRow);
    both.merge(JSON.parse(sum) as SumRow);
    const text = JSON.stringify(both.toRow());
    this.#statements.run('UPDATE kept_counts SET sum = ? WHERE number = ?', text, row.number);
  }

  /** Removes the oldest rows of owners that have too many, at most `limit` of each. Returns how many. */
  trim(limit: number): number {
    const beyond = this.#statements.all(
      'SELECT owner, count(*) - ?1 AS rows FROM kept_counts GROUP BY owner HAVING count(*) > ?1',
      this.#most,
    ) as { owner: string; rows: number }[];
    if (beyond.length > 0) this.moves += 1;
    const removed = beyond.map(({ owner, rows }) =>
      this.#statements.run(
        `DELETE FROM kept_counts WHERE number IN
           (SELECT number FROM kept_counts WHERE owner = ? ORDER BY number LIMIT ?)`,
        owner,
        Math.min(rows, limit),
      ),
    );
    return removed.reduce((sum, each) => sum + each, 0);
  }
}

/** A removed job whose images are still to be deleted. Without an owner its counts go with it. */
export interface SweptJob {
  number: number;
  owner: string | null;
  watch: string | null;
  tags: string;
}
