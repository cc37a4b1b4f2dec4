/** The cells of a row of the job table. */
import { clock, duration } from '../text/format.js';
import type { JobStatus } from '../../client/records.js';

export interface JobRow {
  state: string;
  images: string;
  type: string;
  priority: string;
  submitted: string;
  waited: string;
  took: string;
}

/** `now` is in Unix seconds: the times of a job that has not ended are counted up to it. */
export function jobRow(job: JobStatus, now: number): JobRow {
  const end = job.completed_at ?? now;
  return {
    state: job.error === null ? job.status : `${job.status}: ${job.error.code}`,
    images: imagesText(job),
    type: job.job_type,
    priority: String(job.priority),
    submitted: clock(job.submitted_at, now),
    waited: duration((job.started_at ?? end) - job.submitted_at),
    took: job.started_at === null ? '' : duration(end - job.started_at),
  };
}

function imagesText({ finished_images, failed_images, image_count }: JobStatus): string {
  const finished = `${finished_images} / ${image_count}`;
  return failed_images === 0 ? finished : `${finished}, ${failed_images} failed`;
}
