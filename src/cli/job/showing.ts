/** What is known of one job, and its cancellation. */
import type {
  ImageEntry,
  JobResult,
  JobStatus,
  SingleImageResult,
} from '../../client/lattice-client.js';
import { DETECTION_HEADER, detectionRows, failedRow } from '../detection-rows.js';
import { renderTable } from '../table.js';
import { EXIT_FAILED, type Terminal } from '../terminal.js';
import { problemText, summaryOf, timeText } from './job-text.js';
import { openClient, type AccessFlags } from './open-client.js';

export async function showStatus(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  printStatus(await openClient(flags).status(jobId), flags, terminal);
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

/** Exit code 1 for a job that failed: it has no boxes. */
export async function showResult(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const record = await openClient(flags).result(jobId);
  if (flags.json === true) terminal.out(JSON.stringify(record));
  else for (const line of resultLines(record)) terminal.out(line);
  if (record.status === 'failed') terminal.setExitCode(EXIT_FAILED);
}

function printStatus(job: JobStatus, flags: AccessFlags, terminal: Terminal): void {
  if (flags.json === true) {
    terminal.out(JSON.stringify(job));
    return;
  }
  const rows = [
    ['job', job.job_id],
    ['status', job.status],
    ['images', `${job.finished_images}/${job.image_count}`],
    ['type', job.job_type],
    ['priority', String(job.priority)],
    ['worker', job.worker_id === '' ? '-' : job.worker_id],
    ['submitted', timeText(job.submitted_at)],
    ['started', timeText(job.started_at)],
    ['completed', timeText(job.completed_at)],
    ...(job.error === null ? [] : [['error', problemText(job.error)]]),
    ...(job.webhooks ?? []).map(({ state, attempts, last_error: error }) => [
      'webhook',
      `${state} after ${attempts} attempt(s)${error === null ? '' : `: ${error}`}`,
    ]),
  ];
  for (const line of renderTable(rows)) terminal.out(line);
}

function resultLines({ result, error, status }: JobResult): string[] {
  const entries = entriesOf(result);
  const rows = entries.flatMap((entry) =>
    entry.status === 'error'
      ? [failedRow(entry.image_path, entry.error)]
      : detectionRows(entry.image_path, entry.detections),
  );
  const table = rows.length === 0 ? [] : [...renderTable([DETECTION_HEADER, ...rows]), ''];
  const failed = entries.filter((entry) => entry.status === 'error').length;
  const counts = `${entries.length} image(s), ${result?.total_count ?? 0} box(es), ${failed} failed`;
  return [...table, error === null ? counts : `${status}: ${problemText(error)}; ${counts}`];
}

type ShownEntry = ({ status: 'ok' } & SingleImageResult) | ImageEntry;

function entriesOf(result: JobResult['result']): readonly ShownEntry[] {
  if (result === null) return [];
  return 'images' in result ? result.images : [{ status: 'ok', ...result }];
}
