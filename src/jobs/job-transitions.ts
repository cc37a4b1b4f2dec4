/**
 * The life of a job. Every change of a stored status goes through this table.
 *
 * pending    on disk, no image of it has been handed out by this process
 * running    a process holds its lease; images are in the detector or about to be
 * completed  every image has an entry and at least one is ok
 * failed     every image has an error entry, or it was cancelled
 */
import { JOB_STATUSES, type JobStatus } from './job.js';

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
