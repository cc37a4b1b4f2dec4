/** Converts a row of `jobs` to the job of the service. */
import type { Problem } from '../../api/errors.js';
import type { JobSettings } from '../job.js';
import { MAX_IMAGES, type StoredJob } from '../job-records.js';

export const JOB_COLUMNS = `number, job_id AS jobId, status, settings, metadata, image_count AS imageCount,
  finished AS finishedImages, finished - succeeded AS failedImages, retry_of AS retryOf,
  (SELECT path FROM job_images WHERE task = number * ${MAX_IMAGES}) AS firstPath,
  submitted_at AS submittedAt, started_at AS startedAt, completed_at AS completedAt,
  worker_id AS workerId, error`;

/** `metadata` is text of any shape from the caller, so it is not part of the JSON of the settings. */
export interface JobRow extends Omit<StoredJob, 'spec' | 'error'> {
  settings: string;
  metadata: string | null;
  error: string | null;
}

export function toStoredJob({ settings, metadata, error, ...job }: JobRow): StoredJob {
  return {
    ...job,
    spec: { ...(JSON.parse(settings) as JobSettings), metadata },
    error: error === null ? null : (JSON.parse(error) as Problem),
  };
}
