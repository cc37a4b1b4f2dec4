/** Reads of the job store: after the writes of their group, outside its transaction. */
import type { Problem } from '../../api/errors.js';
import type { Idempotency, JobEvent, JobFilter, JobStatus } from '../job.js';
import {
  MAX_IMAGES,
  taskId,
  type JobCounts,
  type StoredJob,
  type WaitingImage,
} from '../job-records.js';
import { findByKey, findOwn, JOB_COLUMNS, toStoredJob, type JobRow } from './job-rows.js';
import type { Statements } from './statements.js';

export class JobReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  find(jobId: string, keyId: string | null): StoredJob {
    return findOwn(this.#statements, jobId, keyId);
  }

  /** The job that was submitted with this key and body. */
  repeated(keyId: string | null, idempotency: Idempotency): StoredJob | null {
    const known = findByKey(this.#statements, keyId, idempotency);
    return known?.sameBody === true ? known.job : null;
  }

  /** Newest first, numbers below `before`. */
  list(filter: JobFilter, limit: number, before: number | null): StoredJob[] {
    const { where, values } = conditions(filter, before);
    const sql = `SELECT ${JOB_COLUMNS} FROM jobs ${where} ORDER BY number DESC LIMIT ?`;
    return (this.#statements.all(sql, ...values, limit) as JobRow[]).map(toStoredJob);
  }

  /** Of all jobs that the filter finds, whatever its `status`. */
  countByStatus(filter: JobFilter): Record<JobStatus, number> {
    const { where, values } = conditions({ ...filter, status: undefined }, null);
    const rows = this.#statements.all(
      `SELECT status, count(*) AS jobs FROM jobs ${where} GROUP BY status`,
      ...values,
    ) as { status: JobStatus; jobs: number }[];
    const counts = { pending: 0, running: 0, completed: 0, failed: 0 };
    for (const { status, jobs } of rows) counts[status] = jobs;
    return counts;
  }

  /**
   * JSON of the `QueuedJob[]`, in order of submission. A long queue makes a start wait: as one text it is read and
   * handed to the main thread in a third of the time that its rows take.
   */
  unfinished(): string {
    const { jobs } = this.#statements.get(
      `SELECT json_group_array(json_object('number', number, 'jobId', job_id, 'priority', priority,
         'submittedAt', submitted_at, 'imageCount', image_count)) AS jobs
       FROM (SELECT * FROM jobs WHERE status IN ('pending', 'running') ORDER BY number)`,
    ) as { jobs: string };
    return jobs;
  }

  /** Images without an outcome that the process has died with, of jobs that have not ended. */
  suspects(): (WaitingImage & { jobNumber: number })[] {
    return this.#statements.all(
      `SELECT jobs.number AS jobNumber, task % ${MAX_IMAGES} AS "index", path, deaths
       FROM job_images JOIN jobs ON jobs.number = task / ${MAX_IMAGES}
       WHERE deaths > 0 AND outcome IS NULL AND jobs.status IN ('pending', 'running') ORDER BY task`,
    ) as (WaitingImage & { jobNumber: number })[];
  }

  /** Images without an outcome, by index from `from` on. */
  waiting(jobNumber: number, from: number, limit: number): WaitingImage[] {
    return this.#statements.all(
      `SELECT task % ${MAX_IMAGES} AS "index", path, deaths FROM job_images
       WHERE task >= ? AND task < ? AND outcome IS NULL ORDER BY task LIMIT ?`,
      taskId(jobNumber, from),
      taskId(jobNumber + 1, 0),
      limit,
    ) as WaitingImage[];
  }

  /** Oldest first; `gap` when events after `after` are gone. */
  events(after: number, limit: number): { events: JobEvent[]; gap: boolean } {
    const rows = this.#statements.all(
      `SELECT seq, job_id AS jobId, key_id AS keyId, event, status, timestamp, progress, failed AS failedImages,
         reused AS reusedImages, error FROM outbox
       WHERE seq > ? ORDER BY seq LIMIT ?`,
      after,
      limit,
    ) as (Omit<JobEvent, 'error'> & { error: string | null })[];
    const first = rows[0]?.seq;
    // Nothing newer is right at the newest number only; else the events after `after` are gone or never were.
    const gap = first === undefined ? after !== lastSeq(this.#statements) : first !== after + 1;
    const events = rows.map(({ error, ...event }) =>
      error === null ? event : { ...event, error: JSON.parse(error) as Problem },
    );
    return { events, gap };
  }

  counts(): JobCounts {
    return this.#statements.get(
      `SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
              count(*) FILTER (WHERE status = 'running') AS running,
              coalesce(sum(image_count - finished), 0) AS queuedImages
       FROM jobs WHERE status IN ('pending', 'running')`,
    ) as JobCounts;
  }

  /** When the oldest job that has not started was submitted; null when there is none. */
  oldestPendingAt(): number | null {
    const row = this.#statements.get(
      "SELECT submitted_at AS at FROM jobs WHERE status = 'pending' ORDER BY number LIMIT 1",
    ) as { at: number } | undefined;
    return row?.at ?? null;
  }
}

/** Sequence number of the newest event that was ever stored. */
export function lastSeq(statements: Statements): number {
  const row = statements.get("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'") as
    { seq: number } | undefined;
  return row?.seq ?? 0;
}

function conditions(filter: JobFilter, before: number | null) {
  const clauses: string[] = [];
  const values: (string | number)[] = [];
  const add = (clause: string, ...added: (string | number)[]) => {
    clauses.push(clause);
    values.push(...added);
  };
  const { status, jobType, submittedAfter, submittedBefore, keyId } = filter;
  if (status !== undefined) add(`status IN (${status.map(() => '?').join(', ')})`, ...status);
  if (jobType !== undefined) add('job_type = ?', jobType);
  if (submittedAfter !== undefined) add('submitted_at > ?', submittedAfter);
  if (submittedBefore !== undefined) add('submitted_at < ?', submittedBefore);
  if (keyId !== undefined && keyId !== null) add('key_id = ?', keyId);
  if (before !== null) add('number < ?', before);
  return { where: clauses.length === 0 ? '' : `WHERE ${clauses.join(' AND ')}`, values };
}
