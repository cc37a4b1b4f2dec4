/**
 * The life of a job: the table of its moves, and the one place that writes a status, with the event and the webhook
 * that belong to it.
 *
 * pending    on disk, no image of it has been handed out by this process
 * running    a process holds its lease; images are in the detector or about to be
 * completed  every image has an entry and at least one is ok
 * failed     every image has an error entry, or it was cancelled
 */
import { randomBytes } from 'node:crypto';
import type { Problem } from '../../errors.js';
import { JOB_STATUSES, progressOf, type JobEventName, type JobStatus } from '../job.js';
import type { StoredJob } from '../job-records.js';
import type { CommitNotes } from './group-commit.js';
import { JOB_COLUMNS, toJobEvent, toStoredJob, type EventRow, type JobRow } from './job-row.js';
import type { Statements } from './statements.js';

export const JOB_TRANSITIONS = {
  pending: { running: 'start', failed: 'cancel' },
  running: { completed: 'finish', failed: 'finish or cancel', pending: 'recovery after a restart' },
  completed: {},
  failed: {},
} as const satisfies Record<JobStatus, Partial<Record<JobStatus, string>>>;

export function canMove(from: JobStatus, to: JobStatus): boolean {
  return to in JOB_TRANSITIONS[from];
}

/** Statuses that `to` may be reached from: the guard of the update that moves a job there. */
export function sourcesOf(to: JobStatus): JobStatus[] {
  return JOB_STATUSES.filter((from) => canMove(from, to));
}

/** Nothing leads out of a terminal status. */
export function isTerminal(status: JobStatus): boolean {
  return Object.keys(JOB_TRANSITIONS[status]).length === 0;
}

/** Throws on a move the table does not have: a fault of the caller, never of a request. */
export function assertMove(from: JobStatus, to: JobStatus): void {
  if (!canMove(from, to)) throw new Error(`A job cannot go from ${from} to ${to}.`);
}

interface MoveDetail {
  at: number;
  lease?: number;
  workerId?: string;
  error?: Problem;
}

type MoveTarget = Exclude<JobStatus, 'pending'>;

const EVENT_OF: Record<MoveTarget, JobEventName> = {
  running: 'job_started',
  completed: 'job_completed',
  failed: 'job_failed',
};

const quoted = (statuses: JobStatus[]) => statuses.map((status) => `'${status}'`).join(', ');

export class JobTransitions {
  readonly #statements: Statements;
  readonly #notes: CommitNotes;
  #lease = 0;

  constructor(statements: Statements, notes: CommitNotes) {
    this.#statements = statements;
    this.#notes = notes;
  }

  /** Grows with every process run; 0 before `beginRun`. */
  get lease(): number {
    return this.#lease;
  }

  /** Takes the next lease and puts the jobs of earlier process runs back: their leases are void from here on. */
  beginRun(): void {
    this.#lease = this.#statements.insert(
      "INSERT INTO process_runs (started_at) VALUES (unixepoch('subsec'))",
    );
    this.#statements.run(
      `UPDATE jobs SET status = 'pending', lease = NULL WHERE status IN (${quoted(sourcesOf('pending'))})`,
    );
  }

  /** Announces a job that was just inserted. */
  created(jobNumber: number, at: number): StoredJob {
    return this.#announce(jobNumber, 'job_submitted', at, false);
  }

  /** Throws when the table has no such move, or when the row has moved on since it was read. */
  move(row: JobRow, to: MoveTarget, detail: MoveDetail): StoredJob {
    assertMove(row.status, to);
    const { at, lease = null, workerId = '', error = null } = detail;
    const [columns, values] =
      to === 'running'
        ? ['started_at = coalesce(started_at, ?), worker_id = ?', [at, workerId]]
        : ['completed_at = ?, error = ?', [at, error === null ? null : JSON.stringify(error)]];
    const changed = this.#statements.run(
      `UPDATE jobs SET status = '${to}', lease = ?, ${columns}
       WHERE number = ? AND status IN (${quoted(sourcesOf(to))})`,
      lease,
      ...values,
      row.number,
    );
    if (changed !== 1) throw new Error(`Job ${row.number} was not ${row.status} any more.`);
    const terminal = isTerminal(to);
    const job = this.#announce(row.number, EVENT_OF[to], at, terminal);
    if (terminal && job.spec.callbackUrl !== null) {
      this.#addWebhook(job, job.spec.callbackUrl, at);
    }
    return job;
  }

  #announce(jobNumber: number, event: JobEventName, at: number, terminal: boolean): StoredJob {
    const row = this.#statements.get(
      `SELECT ${JOB_COLUMNS} FROM jobs WHERE number = ?`,
      jobNumber,
    ) as JobRow;
    const job = toStoredJob(row);
    const entry: Omit<EventRow, 'seq'> = {
      job_id: job.jobId,
      key_id: job.spec.keyId,
      event,
      status: job.status,
      timestamp: at,
      progress: progressOf(job),
      error: row.error,
    };
    const seq = this.#statements.insert(
      `INSERT INTO outbox (job, job_id, key_id, event, status, timestamp, progress, error, terminal)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      jobNumber,
      entry.job_id,
      entry.key_id,
      entry.event,
      entry.status,
      entry.timestamp,
      entry.progress,
      entry.error,
      terminal ? 1 : 0,
    );
    this.#notes.events.push(toJobEvent({ ...entry, seq }));
    return job;
  }

  #addWebhook(job: StoredJob, url: string, at: number): void {
    this.#statements.run(
      `INSERT INTO webhook_deliveries
         (delivery_id, job, job_id, url, host, state, created_at, planned_at, next_attempt_at)
       VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?)`,
      `msg_${randomBytes(18).toString('base64url')}`,
      job.number,
      job.jobId,
      url,
      URL.canParse(url) ? new URL(url).host : '',
      at,
      at,
      at,
    );
    this.#notes.webhooksAdded += 1;
  }
}
