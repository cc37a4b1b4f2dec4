/** How fast a job runs and how long it still takes. */
import type { JobStatus } from '../../client/records.js';
import { duration, significant } from '../text/format.js';

type Progress = Pick<JobStatus, 'started_at' | 'completed_at' | 'finished_images' | 'image_count'>;

/** Images per second; null where that is not known. `now`: Unix seconds. */
export function imagesPerSecond(job: Progress, now: number): number | null {
  if (job.started_at === null || job.finished_images === 0) return null;
  const elapsed = (job.completed_at ?? now) - job.started_at;
  return elapsed > 0 ? job.finished_images / elapsed : null;
}

/** `24.5 images/s, 12 s left`; empty where nothing is known. */
export function paceText(job: Progress, now: number): string {
  const rate = imagesPerSecond(job, now);
  if (rate === null) return '';
  const speed = `${significant(rate)} images/s`;
  if (job.completed_at !== null) return speed;
  const left = (job.image_count - job.finished_images) / rate;
  return `${speed}, ${left < 1 ? 'less than 1 s' : duration(Math.ceil(left)).replace(/\.0 s$/, ' s')} left`;
}
