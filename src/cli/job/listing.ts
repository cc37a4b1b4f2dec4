/** Jobs of the service, newest first. */
import type { JobFilter, JobStatus } from '../../client/lattice-client.js';
import { renderTable } from '../table.js';
import type { Terminal } from '../terminal.js';
import { timeText } from './job-text.js';
import { openClient, type AccessFlags } from './open-client.js';

export interface ListFlags extends AccessFlags {
  status?: JobStatus['status'][];
  type?: JobStatus['job_type'];
  limit: number;
}

const LARGEST_PAGE = 100;
const HEADER = ['JOB', 'STATUS', 'TYPE', 'PRIORITY', 'IMAGES', 'FAILED', 'SUBMITTED', 'ERROR'];

export async function listJobs(flags: ListFlags, terminal: Terminal): Promise<void> {
  const filter: JobFilter = { limit: Math.min(flags.limit, LARGEST_PAGE) };
  if (flags.status !== undefined) filter.status = flags.status;
  if (flags.type !== undefined) filter.job_type = flags.type;
  const jobs: JobStatus[] = [];
  for await (const job of openClient(flags).list(filter)) {
    if (jobs.push(job) === flags.limit) break;
  }
  if (flags.json === true) {
    terminal.out(JSON.stringify(jobs, null, 2));
    return;
  }
  for (const line of renderTable([HEADER, ...jobs.map(cells)])) terminal.out(line);
}

function cells(job: JobStatus): string[] {
  return [
    job.job_id,
    job.status,
    job.job_type,
    String(job.priority),
    `${job.finished_images}/${job.image_count}`,
    job.failed_images === 0 ? '' : String(job.failed_images),
    timeText(job.submitted_at),
    job.error?.code ?? '',
  ];
}
