/** Writes of the job store. Each method runs inside a savepoint of a group commit; a throw undoes it alone. */
import { LatticeError, type Problem } from '../../errors.js';
import type { ImageOutcome } from '../job.js';
import {
  MAX_IMAGES,
  taskId,
  type JobRecords,
  type NewJob,
  type NewOutcome,
  type CancelOutcome,
  type RecordOutcome,
  type StoredJob,
  type SubmitOutcome,
} from '../job-store.js';
import { isTerminal } from '../job-transitions.js';
import type { Blocking } from './blocking.js';
import type { IdempotencyKeys } from './idempotency-keys.js';
import { JOB_COLUMNS, settingsText, type JobRow } from './job-row.js';
import type { JobTransitions } from './job-moves.js';
import type { Statements } from './statements.js';

type Writes = Pick<Blocking<JobRecords>, 'submit' | 'start' | 'record' | 'cancel' | 'chargeDeaths'>;

export class JobWrites implements Writes {
  private readonly statements: Statements;
  private readonly transitions: JobTransitions;
  private readonly keys: IdempotencyKeys;

  constructor(statements: Statements, transitions: JobTransitions, keys: IdempotencyKeys) {
    this.statements = statements;
    this.transitions = transitions;
    this.keys = keys;
  }

  submit(job: NewJob): SubmitOutcome {
    const repeat = this.findRepeat(job);
    if (repeat !== null) return repeat;
    if (!job.admit) return { kind: 'not_admitted' };
    const stored = this.insertJob(job);
    const { spec, idempotency, jobId, submittedAt } = job;
    if (idempotency !== null) this.keys.remember(spec.keyId, idempotency, jobId, submittedAt);
    return { kind: 'stored', job: stored };
  }

  start(jobNumber: number, lease: number, workerId: string, at: number): StoredJob | null {
    const row = this.row(jobNumber);
    if (row?.status !== 'pending') return null;
    return this.transitions.move(row, 'running', { at, lease, workerId });
  }

  record(
    jobNumber: number,
    lease: number,
    outcomes: NewOutcome[],
    workerId: string,
    at: number,
  ): RecordOutcome {
    const row = this.row(jobNumber);
    if (row === null || isTerminal(row.status)) return refused('ended', row);
    if (row.status !== 'running' || row.lease !== lease) return refused('stale', row);
    const stored = outcomes.filter(({ index, outcome }) => this.insert(jobNumber, index, outcome));
    const succeeded = row.succeeded + stored.filter(({ ok }) => ok).length;
    const finished = row.finished + stored.length;
    this.statements.run(
      'UPDATE jobs SET finished = ?, succeeded = ?, worker_id = ? WHERE number = ?',
      finished,
      succeeded,
      workerId,
      jobNumber,
    );
    const terminal = finished === row.image_count;
    if (terminal) {
      const now = { ...row, finished, succeeded, worker_id: workerId };
      if (succeeded > 0) this.transitions.move(now, 'completed', { at });
      else this.transitions.move(now, 'failed', { at, error: this.failureOf(now) });
    }
    return { kind: 'stored', stored: stored.length, finishedImages: finished, terminal };
  }

  cancel(jobId: string, keyId: string | null, at: number): CancelOutcome {
    const row = this.statements.get(
      `SELECT ${JOB_COLUMNS}, key_id, lease, succeeded FROM jobs WHERE job_id = ?`,
      jobId,
    ) as LeasedRow | undefined;
    if (row === undefined || (keyId !== null && row.key_id !== keyId)) return { kind: 'missing' };
    const from = row.status;
    if (from === 'completed' || from === 'failed') return { kind: 'already_finished' };
    const error = new LatticeError('cancelled', 'The job was cancelled before it had finished.');
    const job = this.transitions.move(row, 'failed', { at, error: error.toProblem() });
    return { kind: 'cancelled', job, from };
  }

  chargeDeaths(markerId: string, tasks: number[]): number {
    const isNew = this.statements.run(
      `INSERT INTO charged_markers (marker, charged_at) VALUES (?, unixepoch('subsec'))
       ON CONFLICT (marker) DO NOTHING`,
      markerId,
    );
    if (isNew === 0) return 0;
    return tasks.reduce((charged, task) => {
      const sql = 'UPDATE job_images SET deaths = deaths + 1 WHERE task = ? AND outcome IS NULL';
      return charged + this.statements.run(sql, task);
    }, 0);
  }

  private findRepeat({ spec, idempotency }: NewJob): SubmitOutcome | null {
    if (idempotency === null) return null;
    const known = this.keys.find(spec.keyId, idempotency);
    if (known === null) return null;
    return known.sameBody ? { kind: 'replayed', job: known.job } : { kind: 'key_reused' };
  }

  private insertJob({ jobId, spec, submittedAt }: NewJob): StoredJob {
    const { imagePaths, ...settings } = spec;
    if (imagePaths.length === 0 || imagePaths.length >= MAX_IMAGES) {
      const detail = `A job has 1 to ${MAX_IMAGES - 1} images, not ${imagePaths.length}.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    const number = this.statements.insert(
      `INSERT INTO jobs (job_id, key_id, job_type, status, priority, settings, metadata, image_count, submitted_at)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?)`,
      jobId,
      settings.keyId,
      settings.jobType,
      settings.priority,
      settingsText(settings),
      settings.metadata,
      imagePaths.length,
      submittedAt,
    );
    imagePaths.forEach((path, index) => {
      const task = taskId(number, index);
      this.statements.run('INSERT INTO job_images (task, path) VALUES (?, ?)', task, path);
    });
    return this.transitions.created(number, submittedAt);
  }

  private insert(jobNumber: number, index: number, outcome: string): boolean {
    const sql = 'UPDATE job_images SET outcome = ? WHERE task = ? AND outcome IS NULL';
    return this.statements.run(sql, outcome, taskId(jobNumber, index)) === 1;
  }

  /** One image: its own error. Several: one error that names the first. */
  private failureOf(row: JobRow): Problem {
    const { outcome } = this.statements.get(
      'SELECT outcome FROM job_images WHERE task = ?',
      taskId(row.number, 0),
    ) as { outcome: string };
    const first = JSON.parse(outcome) as ImageOutcome;
    if (first.status === 'ok')
      throw new Error(`Job ${row.number} failed with an image that is ok.`);
    if (row.image_count === 1) return first.error;
    const { code, detail } = first.error;
    return new LatticeError(
      'all_images_failed',
      `None of the ${row.image_count} images could be processed. The first: ${code}: ${detail}`,
    ).toProblem();
  }

  private row(jobNumber: number): LeasedRow | null {
    const row = this.statements.get(
      `SELECT ${JOB_COLUMNS}, key_id, lease, succeeded FROM jobs WHERE number = ?`,
      jobNumber,
    ) as LeasedRow | undefined;
    return row ?? null;
  }
}

export interface LeasedRow extends JobRow {
  key_id: string | null;
  lease: number | null;
  succeeded: number;
}

function refused(kind: 'stale' | 'ended', row: LeasedRow | null): RecordOutcome {
  return { kind, stored: 0, finishedImages: row?.finished ?? 0, terminal: false };
}
