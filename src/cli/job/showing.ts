/** What is known of one job, and its cancellation. */
import type {
  ImageEntry,
  JobResult,
  JobStatus,
  SingleImageResult,
} from '../../client/lattice-client.js';
import { DETECTION_HEADER, detectionRows, failedRow } from '../detection-rows.js';
import { renderTable } from '../table.js';
import { failureLines } from '../failure-lines.js';
import type { Terminal } from '../terminal.js';
import { failedImageLines, failedImagesOf } from './failed-images.js';
import { exitCodeOfJob, imagesText, problemText, summaryOf, timeText } from './job-text.js';
import { openClient, type AccessFlags } from './open-client.js';
import { watchCommand } from './watching.js';

export async function showStatus(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const job = await client.status(jobId);
  if (flags.json === true) terminal.out(JSON.stringify(job));
  else {
    for (const line of renderTable(statusRows(job))) terminal.out(line);
    for (const line of await failedImageLines(client, job)) terminal.out(line);
  }
  terminal.setExitCode(exitCodeOfJob(job));
}

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

/** Exit code 1 for a job that failed: it has no boxes; 3 where some images failed. */
export async function showResult(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const record = await openClient(flags).result(jobId);
  if (flags.json === true) terminal.out(JSON.stringify(record));
  else for (const line of resultLines(record)) terminal.out(line);
  terminal.setExitCode(exitCodeOfJob(record));
}

function statusRows(job: JobStatus): string[][] {
  return [
    ['job', job.job_id],
    ['status', job.status],
    ['images', imagesText(job)],
    ['type', job.job_type],
    ['priority', String(job.priority)],
    ['worker', job.worker_id === '' ? '-' : job.worker_id],
    ['submitted', timeText(job.submitted_at)],
    ['started', timeText(job.started_at)],
    ['completed', timeText(job.completed_at)],
    ...(job.retry_of === null ? [] : [['retry of', job.retry_of]]),
    ...(job.error === null ? [] : [['error', problemText(job.error)]]),
    ...(job.webhooks ?? []).map(({ state, attempts, last_error: error }) => [
      'webhook',
      `${state} after ${attempts} attempt(s)${error === null ? '' : `: ${error}`}`,
    ]),
  ];
}

function resultLines(record: JobResult): string[] {
  const { result, error, status } = record;
  const entries = entriesOf(result);
  const rows = entries.flatMap((entry) =>
    entry.status === 'error'
      ? [failedRow(entry.image_path, entry.error)]
      : detectionRows(entry.image_path, entry.detections),
  );
  const table = rows.length === 0 ? [] : [...renderTable([DETECTION_HEADER, ...rows]), ''];
  const failed = entries.filter((entry) => entry.status === 'error').length;
  const counts = `${entries.length - failed} done, ${failed} failed; ${result?.total_count ?? 0} box(es)`;
  const summary = error === null ? counts : `${status}: ${problemText(error)}; ${counts}`;
  return [...table, summary, ...failureLines(failedImagesOf(record))];
}

type ShownEntry = ({ status: 'ok' } & SingleImageResult) | ImageEntry;

function entriesOf(result: JobResult['result']): readonly ShownEntry[] {
  if (result === null) return [];
  return 'images' in result ? result.images : [{ status: 'ok', ...result }];
}
