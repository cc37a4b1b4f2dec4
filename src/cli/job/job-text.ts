/** Records of jobs as text for people. */
import type { JobProgress, JobStatus, Problem } from '../../client/lattice-client.js';
import { EXIT_FAILED, EXIT_PARTLY } from '../terminal.js';

/** One line that says how a job ended, or how it stands. */
export function summaryOf(job: JobStatus): string {
  const error = job.error === null ? '' : `: ${problemText(job.error)}`;
  return `${job.job_id} ${job.status}, ${imagesText(job)}${took(job)}${error}`;
}

/** `3/3 images`, or `1 done, 2 failed` and how many are left. */
export function imagesText({
  finished_images: finished,
  failed_images: failed,
  image_count: images,
}: Pick<JobProgress, 'finished_images' | 'failed_images' | 'image_count'>): string {
  if (failed === 0) return `${finished}/${images} images`;
  const left = finished === images ? '' : `, ${images - finished} left`;
  return `${finished - failed} done, ${failed} failed${left}`;
}

/** 0 for a job that is completed without a failed image, or has yet to end. */
export function exitCodeOfJob({
  status,
  failed_images: failed,
}: Pick<JobStatus, 'status' | 'failed_images'>): number {
  if (status === 'failed') return EXIT_FAILED;
  return status === 'completed' && failed > 0 ? EXIT_PARTLY : 0;
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
