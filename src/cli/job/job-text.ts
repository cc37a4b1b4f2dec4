/** Records of jobs as text for people. */
import type { JobStatus, Problem } from '../../client/lattice-client.js';

/** One line that says how a job ended, or how it stands. */
export function summaryOf(job: JobStatus): string {
  const { job_id: id, status, finished_images: done, image_count: images } = job;
  const error = job.error === null ? '' : `: ${problemText(job.error)}`;
  return `${id} ${status}, ${done}/${images} images${took(job)}${error}`;
}

export function problemText({ detail, code }: Pick<Problem, 'detail' | 'code'>): string {
  return `${detail} (${code})`;
}

/** Universal time, to the second. */
export function timeText(unixSeconds: number | null): string {
  if (unixSeconds === null) return '-';
  return new Date(unixSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

function took({ started_at: from, completed_at: to }: JobStatus): string {
  return from === null || to === null ? '' : `, ${(to - from).toFixed(1)} s`;
}
