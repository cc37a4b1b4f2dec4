/** Changes of jobs: retried, cancelled, edited, removed. */
import { ServiceError } from '../../client/lattice-client.js';
import { givenLabels, type LabelFlags } from '../command-options.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';
import { openClient, watchCommand, type AccessFlags } from './open-client.js';
import { summaryOf } from './showing.js';

/** Prints the id of the new job alone, or its record as JSON. Rejects with `nothing_to_retry`. */
export async function retryJob(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const accepted = await openClient(flags).retry(jobId);
  if (flags.json === true) {
    terminal.out(JSON.stringify(accepted));
    return;
  }
  terminal.out(accepted.job_id);
  terminal.err(`${accepted.message} ${watchCommand(accepted.job_id, flags)} follows it.`);
}

/** Rejects with `job_already_finished` when there is nothing to cancel. */
export async function cancelJob(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const record = await openClient(flags).cancel(jobId);
  terminal.out(flags.json === true ? JSON.stringify(record) : summaryOf(record));
}

export type EditFlags = AccessFlags & LabelFlags;

export async function editJob(jobId: string, flags: EditFlags, terminal: Terminal): Promise<void> {
  const labels = givenLabels(flags);
  if (Object.keys(labels).length === 0) throw new UsageError('Say what is to be changed.');
  const record = await openClient(flags).edit(jobId, labels);
  terminal.out(flags.json === true ? JSON.stringify(record) : summaryOf(record));
}

/** Removes the jobs one by one. If one cannot be removed, the others still are, and the exit code is 1. */
export async function removeJobs(
  jobIds: readonly string[],
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  for (const jobId of jobIds) {
    try {
      const record = await client.remove(jobId);
      terminal.out(flags.json === true ? JSON.stringify(record) : `${record.job_id} removed`);
    } catch (error) {
      // If the service does not answer, it will not answer for the others either.
      if (!(error instanceof ServiceError) || error.status === null) throw error;
      terminal.err(`${jobId}: ${error.detail}`);
      terminal.setExitCode(EXIT_FAILED);
    }
  }
}
