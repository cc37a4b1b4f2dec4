/** The one place that writes a job's status, with the event and the webhook that belong to it. */
import { randomBytes } from 'node:crypto';
import type { Problem } from '../../errors.js';
import type { JobEventName, JobStatus } from '../job.js';
import type { StoredJob } from '../job-store.js';
import { assertMove, isTerminal, sourcesOf } from '../job-transitions.js';
import type { CommitNotes } from './group-commit.js';
import { JOB_COLUMNS, toJobEvent, toStoredJob, type EventRow, type JobRow } from './job-row.js';
import type { Statements } from './statements.js';

export interface MoveDetail {
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
  private readonly statements: Statements;
  private readonly notes: CommitNotes;

  constructor(statements: Statements, notes: CommitNotes) {
    this.statements = statements;
    this.notes = notes;
  }

  /** Announces a job that was just inserted. */
  created(jobNumber: number, at: number): StoredJob {
    return this.announce(jobNumber, 'job_submitted', at, false);
  }

  /** Throws when the table has no such move, or when the row has moved on since it was read. */
  move(row: JobRow, to: MoveTarget, detail: MoveDetail): StoredJob {
    assertMove(row.status, to);
    const { at, lease = null, workerId = '', error = null } = detail;
    const [columns, values] =
      to === 'running'
        ? ['started_at = coalesce(started_at, ?), worker_id = ?', [at, workerId]]
        : ['completed_at = ?, error = ?', [at, error === null ? null : JSON.stringify(error)]];
    const changed = this.statements.run(
      `UPDATE jobs SET status = '${to}', lease = ?, ${columns}
       WHERE number = ? AND status IN (${quoted(sourcesOf(to))})`,
      lease,
      ...values,
      row.number,
    );
    if (changed !== 1) throw new Error(`Job ${row.number} was not ${row.status} any more.`);
    const terminal = isTerminal(to);
    const job = this.announce(row.number, EVENT_OF[to], at, terminal);
    if (terminal && job.settings.callbackUrl !== null) {
      this.oweWebhook(job, job.settings.callbackUrl, at);
    }
    return job;
  }

  /** running -> pending for every job of a process that is gone; its lease is worth nothing any more. */
  recover(): number {
    return this.statements.run(
      `UPDATE jobs SET status = 'pending', lease = NULL WHERE status IN (${quoted(sourcesOf('pending'))})`,
    );
  }

  private announce(
    jobNumber: number,
    event: JobEventName,
    at: number,
    terminal: boolean,
  ): StoredJob {
    const row = this.statements.get(
      `SELECT ${JOB_COLUMNS} FROM jobs WHERE number = ?`,
      jobNumber,
    ) as JobRow;
    const job = toStoredJob(row);
    const entry: Omit<EventRow, 'seq'> = {
      job_id: job.jobId,
      key_id: job.settings.keyId,
      event,
      status: job.status,
      timestamp: at,
      progress: job.finishedImages / job.imageCount,
      error: row.error,
    };
    const seq = this.statements.insert(
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
    this.notes.events.push(toJobEvent({ ...entry, seq }));
    return job;
  }

  private oweWebhook(job: StoredJob, url: string, at: number): void {
    this.statements.run(
      `INSERT INTO webhook_deliveries (delivery_id, job, job_id, url, state, created_at, planned_at, next_attempt_at)
       VALUES (?, ?, ?, ?, 'pending', ?, ?, ?)`,
      `msg_${randomBytes(18).toString('base64url')}`,
      job.number,
      job.jobId,
      url,
      at,
      at,
      at,
    );
    this.notes.webhooksAdded += 1;
  }
}
