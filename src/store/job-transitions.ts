/**
 * The one place that writes the status of a job, with the event and the webhook that belong to it.
 *
 * pending    on disk, this process has handed out no image of it, an earlier one may have; next: running, or failed
 *            when it is cancelled
 * running    the present run of the process has it; next: completed, failed, or pending after a restart
 * completed  every image has an entry and at least one is ok
 * failed     every image has an error entry, the job was cancelled, or the runner met a defect in it
 */
import { randomBytes } from 'node:crypto';
import type { Problem } from '../api/errors.js';
import { CAMERA_CHANGES, isEnd, type JobEventName } from '../api/events.js';
import { FIGURE_ROWS, figuresOf, type JobFigures } from '../api/job-figures.js';
import { sumOfRegions } from '../boxes/class-counts.js';
import type { JobStatus } from '../api/job-values.js';
import { FIGURES_OF_JOBS } from './figure-columns.js';
import { progressOf, type CameraNews, type JobCounted } from './job.js';
import { jobNumberOf } from './job-parts.js';
import { MAX_IMAGES, type StoredJob } from './job-records.js';
import type { CommitNotes } from './group-commit.js';
import { regionRows } from './image-rows.js';
import { readError, readJob } from './job-rows.js';
import { listEnd } from './label-rows.js';
import type { Statements } from './statements.js';

export function hasEnded(status: JobStatus): status is 'completed' | 'failed' {
  return status === 'completed' || status === 'failed';
}

/** The facts of a job that its events and webhooks tell. */
type ToldJob = Pick<
  StoredJob,
  'number' | 'jobId' | 'status' | 'imageCount' | 'finishedImages' | 'watch' | 'error'
> &
  JobFigures & { spec: Pick<StoredJob['spec'], 'keyId' | 'callbackUrl'> };

interface ToldRow extends Omit<ToldJob, 'spec' | 'error'> {
  error: string | null;
  keyId: string | null;
  callbackUrl: string | null;
}

type WithoutIndex<News> = News extends unknown ? Omit<News, 'index'> : never;

export class JobTransitions {
  readonly #statements: Statements;
  readonly #notes: CommitNotes;
  #fencingToken = 0;

  constructor(statements: Statements, notes: CommitNotes) {
    this.#statements = statements;
    this.#notes = notes;
  }

  /** Grows with every process run; 0 before `beginRun`. */
  get fencingToken(): number {
    return this.#fencingToken;
  }

  /** Takes the next fencing token and puts the jobs of earlier process runs back: their tokens are void now. */
  beginRun(): void {
    this.#fencingToken = this.#statements.insert(
      "INSERT INTO process_runs (started_at) VALUES (unixepoch('subsec'))",
    );
    this.#statements.run(
      "UPDATE jobs SET status = 'pending', lease = NULL WHERE status = 'running'",
    );
  }

  /** Stores the event of a job that was just inserted. */
  created(jobNumber: number, at: number): StoredJob {
    const job = readJob(this.#statements, jobNumber);
    this.#announce(job, 'job_submitted', at);
    return job;
  }

  /**
   * pending -> running; null when the job is not pending any more. After a restart `started_at` stays that of the first
   * process.
   */
  start(jobNumber: number, workerId: string, at: number): StoredJob | null {
    const started = this.#statements.run(
      `UPDATE jobs SET status = 'running', lease = ?, started_at = coalesce(started_at, ?), worker_id = ?
       WHERE number = ? AND status = 'pending'`,
      this.#fencingToken,
      at,
      workerId,
      jobNumber,
    );
    if (started === 0) return null;
    const job = readJob(this.#statements, jobNumber);
    this.#announce(job, 'job_started', at);
    return job;
  }

  /**
   * Ends a job: as completed if `error` is null, else as failed. The caller has read the status in this transaction.
   */
  end(jobNumber: number, error: Problem | null, at: number): void {
    const status = error === null ? 'completed' : 'failed';
    this.#statements.run(
      'UPDATE jobs SET status = ?, lease = NULL, completed_at = ?, error = ? WHERE number = ?',
      status,
      at,
      error && JSON.stringify(error),
      jobNumber,
    );
    listEnd(this.#statements, jobNumber, at);
    const job = this.#told(jobNumber);
    if (job === null) throw new Error(`Job ${jobNumber} ended and is not there.`);
    this.#announce(job, `job_${status}`, at);
    this.#addWebhook(job, at);
  }

  /** Says a change at a camera with the job of a picture; nothing where that job was removed. */
  cameraChanged(task: number, news: WithoutIndex<CameraNews>, at: number): void {
    const job = this.#told(jobNumberOf(task));
    if (job === null) return;
    const told = { ...news, index: task % MAX_IMAGES };
    this.#announce(job, CAMERA_CHANGES[news.change].event, at, told);
    this.#addWebhook(job, at, told);
  }

  #told(jobNumber: number): ToldJob | null {
    const row = this.#statements.get(
      `SELECT number, job_id AS jobId, status, image_count AS imageCount, finished AS finishedImages,
         ${FIGURES_OF_JOBS}, watch, error, key_id AS keyId, settings ->> '$.callbackUrl' AS callbackUrl
       FROM jobs WHERE number = ?`,
      jobNumber,
    ) as ToldRow | undefined;
    if (row === undefined) return null;
    const { error, keyId, callbackUrl, ...job } = row;
    return { ...job, error: readError(error), spec: { keyId, callbackUrl } };
  }

  #announce(job: ToldJob, event: JobEventName, at: number, news: CameraNews | null = null): void {
    const { number, jobId, status, error, watch } = job;
    const { keyId } = job.spec;
    const progress = progressOf(job);
    const counts = isEnd(event) ? this.#counted(number) : null;
    const seq = this.#statements.insert(
      `INSERT INTO outbox (job, job_id, key_id, event, status, timestamp, progress, error, counts, terminal, watch, news,
         ${FIGURE_ROWS.map(({ column }) => column).join(', ')})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${FIGURE_ROWS.map(() => '?').join(', ')})`,
      number,
      jobId,
      keyId,
      event,
      status,
      at,
      progress,
      error && JSON.stringify(error),
      counts === null ? null : JSON.stringify(counts),
      counts === null ? 0 : 1,
      watch,
      news && JSON.stringify(news),
      ...FIGURE_ROWS.map(({ name }) => job[name]),
    );
    const stored = { event, jobId, status, timestamp: at, seq, progress, keyId, watch };
    this.#notes.events.push({
      ...stored,
      ...figuresOf(job),
      ...(error === null ? {} : { error }),
      ...(counts === null ? {} : { counts }),
      ...(news === null ? {} : { news }),
    });
  }

  /** Counts the job. The caller has stored all outcomes that the job will have. */
  #counted(jobNumber: number): JobCounted {
    const boxes = this.#statements.all(
      'SELECT class, sum(boxes) AS boxes FROM job_boxes WHERE job = ? GROUP BY class ORDER BY class',
      jobNumber,
    ) as { class: string; boxes: number }[];
    return {
      classCounts: Object.fromEntries(boxes.map((row) => [row.class, row.boxes])),
      regionCounts: sumOfRegions(regionRows(this.#statements, jobNumber)),
    };
  }

  /** Nothing where the caller has named no address. */
  #addWebhook({ number, jobId, spec }: ToldJob, at: number, news: CameraNews | null = null): void {
    const url = spec.callbackUrl;
    if (url === null) return;
    this.#statements.run(
      `INSERT INTO webhook_deliveries
         (delivery_id, job, job_id, url, host, state, created_at, next_attempt_at, news)
       VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
      `msg_${randomBytes(18).toString('base64url')}`,
      number,
      jobId,
      url,
      URL.canParse(url) ? new URL(url).host : '',
      at,
      at,
      news && JSON.stringify(news),
    );
    this.#notes.webhooksAdded += 1;
  }
}
