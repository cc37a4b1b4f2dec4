/** The result of a job as a file for other tools. */
import type { JobStatus } from '../../client/lattice-client.js';
import type { ResultFormat } from '../../export/formats.js';
import { writeExport, type ExportFlags } from '../export-output.js';
import type { Terminal } from '../terminal.js';
import { exitCodeOfJob } from './job-text.js';
import { openClient, type AccessFlags } from './open-client.js';

/** The exit code is that of the job; what it has is written. */
export async function exportResult(
  jobId: string,
  format: ResultFormat,
  flags: AccessFlags & ExportFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const record = await client.status(jobId);
  await writeExport(client.export(jobId, format), flags.output, terminal);
  const leftOut = withoutBoxes(record);
  if (leftOut > 0 && format !== 'json' && format !== 'ndjson') {
    terminal.err(`${leftOut} of ${record.image_count} images failed and are left out.`);
  }
  terminal.setExitCode(exitCodeOfJob(record));
}

function withoutBoxes(record: JobStatus): number {
  const { image_count: images, finished_images: finished, failed_images: failed } = record;
  return images - finished + failed;
}
