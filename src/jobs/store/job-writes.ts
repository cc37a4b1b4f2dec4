/** Writes to jobs that are there. Each method runs inside a savepoint of a group commit; a throw undoes it alone. */
import { LatticeError, type Problem } from '../../api/errors.js';
import type { ImageOutcome } from '../job.js';
import {
  taskId,
  type CancelOutcome,
  type NewOutcome,
  type RecordOutcome,
  type StartedJob,
} from '../job-records.js';
import { ImageFacts } from './image-facts.js';
import { JOB_COLUMNS, type JobRow } from './job-row.js';
import { hasEnded, type JobTransitions } from './job-transitions.js';
import type { Statements } from './statements.js';

const CANCELLED = new LatticeError('cancelled', 'The job was cancelled before it had finished.');

export class JobWrites {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#transitions = transitions;
  }

  /** pending -> running under the lease of this process run; null when the job is not pending any more. */
  start(jobNumber: number, workerId: string, at: number): StartedJob | null {
    const row = this.#row(jobNumber);
    if (row?.status !== 'pending') return null;
    const { lease } = this.#transitions;
    return { job: this.#transitions.move(row, 'running', { at, lease, workerId }), lease };
  }

  /** Stores outcomes; with the last one also the end of the job, its event and its webhook. */
  record(
    jobNumber: number,
    lease: number,
    outcomes: NewOutcome[],
    workerId: string,
    at: number,
  ): RecordOutcome {
    const row = this.#row(jobNumber);
    if (row === null || hasEnded(row.status)) return refused('ended', row);
    if (row.status !== 'running' || row.lease !== lease) return refused('stale', row);
    const stored = outcomes.filter(({ index, outcome }) => this.#insert(jobNumber, index, outcome));
    const facts = new ImageFacts(this.#statements, jobNumber);
    for (const { index, outcome } of stored) facts.add(index, outcome);
    facts.save();
    const succeeded = row.succeeded + stored.filter(({ ok }) => ok).length;
    const finished = row.finishedImages + stored.length;
    this.#statements.run(
      'UPDATE jobs SET finished = ?, succeeded = ?, worker_id = ? WHERE number = ?',
      finished,
      succeeded,
      workerId,
      jobNumber,
    );
    const terminal = finished === row.imageCount;
    if (terminal) {
      if (succeeded > 0) this.#transitions.move(row, 'completed', { at });
      else this.#transitions.move(row, 'failed', { at, error: this.#failureOf(row) });
    }
    const progress = { finishedImages: finished, failedImages: finished - succeeded };
    return { kind: 'stored', stored: stored.length, ...progress, terminal };
  }

  /** Ends the job `failed` with `error`. `keyId` null may end any job, else its own only. */
  cancel(
    jobId: string,
    keyId: string | null,
    at: number,
    error: Problem = CANCELLED.toProblem(),
  ): CancelOutcome {
    const row = this.#statements.get(
      `SELECT ${JOB_COLUMNS}, key_id, lease, succeeded FROM jobs WHERE job_id = ?`,
      jobId,
    ) as LeasedRow | undefined;
    if (row === undefined || (keyId !== null && row.key_id !== keyId)) return { kind: 'missing' };
    const from = row.status;
    if (hasEnded(from)) return { kind: 'already_finished' };
    const job = this.#transitions.move(row, 'failed', { at, error });
    return { kind: 'cancelled', job, from };
  }

  /** Counts one death per task; a marker that was charged before changes nothing. */
  chargeDeaths(markerId: string, tasks: number[]): number {
    const isNew = this.#statements.run(
      `INSERT INTO charged_markers (marker, charged_at) VALUES (?, unixepoch('subsec'))
       ON CONFLICT (marker) DO NOTHING`,
      markerId,
    );
    if (isNew === 0) return 0;
    return tasks.reduce((charged, task) => {
      const sql = 'UPDATE job_images SET deaths = deaths + 1 WHERE task = ? AND outcome IS NULL';
      return charged + this.#statements.run(sql, task);
    }, 0);
  }

  #insert(jobNumber: number, index: number, outcome: string): boolean {
    const sql = 'UPDATE job_images SET outcome = ? WHERE task = ? AND outcome IS NULL';
    return this.#statements.run(sql, outcome, taskId(jobNumber, index)) === 1;
  }

  /** One image: its own error. Several: one error that names the first. */
  #failureOf(row: JobRow): Problem {
    const { outcome } = this.#statements.get(
      'SELECT outcome FROM job_images WHERE task = ?',
      taskId(row.number, 0),
    ) as { outcome: string };
    const first = JSON.parse(outcome) as ImageOutcome;
    if (first.status === 'ok')
      throw new Error(`Job ${row.number} failed with an image that is ok.`);
    if (row.imageCount === 1) return first.error;
    const { code, detail } = first.error;
    return new LatticeError(
      'all_images_failed',
      `None of the ${row.imageCount} images could be processed. The first: ${code}: ${detail}`,
    ).toProblem();
  }

  #row(jobNumber: number): LeasedRow | null {
    const row = this.#statements.get(
      `SELECT ${JOB_COLUMNS}, key_id, lease, succeeded FROM jobs WHERE number = ?`,
      jobNumber,
    ) as LeasedRow | undefined;
    return row ?? null;
  }
}

interface LeasedRow extends JobRow {
  key_id: string | null;
  lease: number | null;
  succeeded: number;
}

function refused(kind: 'stale' | 'ended', row: LeasedRow | null): RecordOutcome {
  const { finishedImages = 0, failedImages = 0 } = row ?? {};
  return { kind, stored: 0, finishedImages, failedImages, terminal: false };
}
