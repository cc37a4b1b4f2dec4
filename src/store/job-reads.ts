/** Reads of the store: after the writes of their group, outside its transaction. */
import type { Problem } from '../api/errors.js';
import { FILTER_ROWS, type FilterRow, type JobFilter } from '../api/job-filters.js';
import type { JobSort, JobStatus } from '../api/job-values.js';
import type { ClassCounts, Idempotency, CameraNews, JobCounted, JobEvent } from './job.js';
import {
  MAX_IMAGES,
  taskId,
  type JobCounts,
  type ListedJob,
  type ListPosition,
  type StoredJob,
  type WaitingImage,
} from './job-records.js';
import { FIGURES_OF_EVENTS } from './figure-columns.js';
import { foldText } from '../base/fold-text.js';
import { markedTag } from './marked-tags.js';
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

  /** Lists the jobs after the position. Null: from the beginning. */
  list(
    filter: JobFilter,
    limit: number,
    after: ListPosition | null = null,
    sort: JobSort = 'submitted',
  ): ListedJob[] {
    const { key, firstUp } = SORTS[sort.replace('-', '') as keyof typeof SORTS];
    const isUp = firstUp !== sort.startsWith('-');
    const { from, where, values } = conditions(filter, key !== null);
    const number = from === LISTED ? 'job' : 'number';
    const columns = key === null ? [number] : [key, number];
    if (after !== null) {
      const bounds = key === null ? [after.number] : [after.key ?? 0, after.number];
      where.push(`(${columns.join()}) ${isUp ? '>' : '<'} (${bounds.map(() => '?').join()})`);
      values.push(...bounds);
    }
    const order = columns.map((column) => `${column} ${isUp ? 'ASC' : 'DESC'}`);
    // The long rows are read of the found jobs only: none takes part in the sorting.
    const rows = this.#statements.all(
      `SELECT ${JOB_COLUMNS}, sortKey FROM
         (SELECT ${number} AS found, ${key ?? 'NULL'} AS sortKey FROM ${from} ${whereText(where)}
          ORDER BY ${order.join()} LIMIT ?)
       CROSS JOIN jobs ON number = found`,
      ...values,
      limit,
    ) as (JobRow & { sortKey: ListPosition['key'] })[];
    return rows.map(({ sortKey, ...row }) => {
      const job = toStoredJob(row);
      return { job, position: { key: sortKey, number: job.number } };
    });
  }

  /** Boxes of these jobs by class, in their order. */
  classCounts(jobIds: readonly string[]): ClassCounts[] {
    const rows = this.#statements.all(
      `SELECT job_id AS jobId, class, sum(boxes) AS boxes
       FROM json_each(?) AS wanted CROSS JOIN jobs ON job_id = wanted.value
       CROSS JOIN job_boxes ON job = jobs.number GROUP BY jobs.number, class ORDER BY boxes DESC, class`,
      JSON.stringify(jobIds),
    ) as { jobId: string; class: string; boxes: number }[];
    const byJob = new Map<string, [string, number][]>(jobIds.map((jobId) => [jobId, []]));
    for (const { jobId, class: name, boxes } of rows) byJob.get(jobId)?.push([name, boxes]);
    return jobIds.map((jobId) => Object.fromEntries(byJob.get(jobId) ?? []));
  }

  /** The given file names of drawn copies that belong to images of jobs. */
  copiesOfJobs(names: readonly string[]): string[] {
    const rows = this.#statements.all(
      `SELECT DISTINCT name FROM json_each(?) AS wanted CROSS JOIN drawn_copies ON name = wanted.value`,
      JSON.stringify(names),
    ) as { name: string }[];
    return rows.map(({ name }) => name);
  }

  /** Jobs that are kept beyond the retention time. */
  keptJobs(): number {
    const { kept } = this.#statements.get(
      'SELECT count(*) AS kept FROM jobs WHERE keep_days IS NOT NULL',
    ) as { kept: number };
    return kept;
  }

  /** Counts of all jobs that the filter finds, whatever its `status`. */
  countByStatus(filter: JobFilter): Record<JobStatus, number> {
    const { from, where, values } = conditions({ ...filter, status: undefined }, false);
    // Read the states from their index, which has no long rows.
    const by = from === LISTED ? 'jobs CROSS JOIN job_listings ON job = number' : 'jobs';
    const rows = this.#statements.all(
      `SELECT status, count(*) AS jobs FROM ${by} ${whereText(where)} GROUP BY status`,
      ...values,
    ) as { status: JobStatus; jobs: number }[];
    const counts = { pending: 0, running: 0, completed: 0, failed: 0 };
    for (const { status, jobs } of rows) counts[status] = jobs;
    return counts;
  }

  /**
   * JSON of the `QueuedJob[]`: those that an earlier process has left running where the disk is full, then those that
   * wait, each in order of submission. A long queue makes a start wait: as one text it is read and handed to the main
   * thread in a third of the time that its rows take, and to sort it would take longer than to read it.
   */
  unfinished(): string {
    const inOrder = (status: JobStatus) =>
      `SELECT * FROM (SELECT * FROM jobs WHERE status = '${status}' ORDER BY number)`;
    const { jobs } = this.#statements.get(
      `SELECT json_group_array(json_object('number', number, 'jobId', job_id, 'priority', priority,
         'submittedAt', submitted_at, 'imageCount', image_count, 'model',
         -- A value that was sorted is a text again until json() reads it.
         json((SELECT json_object('name', coalesce(job_models.name, settings ->> '$.options.modelName'), 'digest', digest, 'source', source, 'precision', precision) FROM job_models
           WHERE job = number ORDER BY rowid DESC LIMIT 1)))) AS jobs
       FROM (${inOrder('running')} UNION ALL ${inOrder('pending')})`,
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
      `SELECT seq, job_id AS jobId, key_id AS keyId, event, status, timestamp, progress, watch, error, counts, news,
         ${FIGURES_OF_EVENTS} FROM outbox
       WHERE seq > ? ORDER BY seq LIMIT ?`,
      after,
      limit,
    ) as (Omit<JobEvent, StoredTexts> & Record<StoredTexts, string | null>)[];
    const first = rows[0]?.seq;
    // Nothing newer is right at the newest number only; else the events after `after` are gone or never were.
    const gap = first === undefined ? after !== lastSeq(this.#statements) : first !== after + 1;
    const events = rows.map(({ error, counts, news, ...event }) => ({
      ...event,
      ...(error === null ? {} : { error: JSON.parse(error) as Problem }),
      ...(counts === null ? {} : { counts: JSON.parse(counts) as JobCounted }),
      ...(news === null ? {} : { news: JSON.parse(news) as CameraNews }),
    }));
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

/** Members of an event that are stored as JSON. */
type StoredTexts = 'error' | 'counts' | 'news';

/** Sequence number of the newest event that was ever stored. */
export function lastSeq(statements: Statements): number {
  const row = statements.get("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'") as
    { seq: number } | undefined;
  return row?.seq ?? 0;
}

/** `key` orders jobs, those with the same key by number; without one the number alone does. Each has an index. */
const SORTS = {
  submitted: { key: null, firstUp: false },
  ended: { key: 'ended', firstUp: false },
  name: { key: 'title', firstUp: true },
} as const;

/** Narrow rows first, where they decide: a search reads all of them, and of the long rows only those that it finds. */
const LISTED = 'job_listings CROSS JOIN jobs ON number = job';

const whereText = (clauses: readonly string[]): string =>
  clauses.length === 0 ? '' : `WHERE ${clauses.join(' AND ')}`;

type Value = string | number;

/** A filter has the given value. */
function condition(
  { kind, column }: FilterRow,
  value: unknown,
): { clauses: string[]; values: Value[] } {
  switch (kind) {
    case 'several': {
      const values = value as string[];
      return { clauses: [`${column} IN (${values.map(() => '?').join(', ')})`], values };
    }
    case 'tag':
      return { clauses: [`instr(${column}, ?)`], values: [markedTag(value as string)] };
    case 'words': {
      const values = (value as string[]).map(foldText);
      return { clauses: values.map(() => `instr(${column}, ?)`), values };
    }
    case 'after':
      return { clauses: [`${column} > ?`], values: [value as number] };
    case 'before':
      return { clauses: [`${column} < ?`], values: [value as number] };
    default:
      return { clauses: [`${column} = ?`], values: [value as Value] };
  }
}

/** The jobs that the filter finds: `FROM`, and conditions with their values. `isListed`: with their rows of lists. */
export function conditions({ keyId = null, ...filter }: JobFilter, isListed: boolean) {
  const given = FILTER_ROWS.filter(({ name }) => filter[name] !== undefined);
  const found = given.map((row) => ({ row, ...condition(row, filter[row.name]) }));
  const where = found.flatMap(({ clauses }) => clauses);
  const values = found.flatMap((each) => each.values);
  if (keyId !== null) {
    where.push('key_id = ?');
    values.push(keyId);
  }
  const isNarrow = found.some(({ row, clauses }) => row.inListings === true && clauses.length > 0);
  return { from: isListed || isNarrow ? LISTED : 'jobs', where, values };
}
