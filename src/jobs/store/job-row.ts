/** Rows of `jobs` and `outbox` as the rest of the service knows them. */
import type { Problem } from '../../errors.js';
import type { JobEvent, JobEventName, JobSettings, JobStatus } from '../job.js';
import type { StoredJob } from '../job-records.js';

export const JOB_COLUMNS = `number, job_id, status, settings, metadata, image_count, finished, submitted_at,
  started_at, completed_at, worker_id, error`;

export interface JobRow {
  number: number;
  job_id: string;
  status: JobStatus;
  settings: string;
  metadata: string | null;
  image_count: number;
  finished: number;
  submitted_at: number;
  started_at: number | null;
  completed_at: number | null;
  worker_id: string;
  error: string | null;
}

/** `metadata` is caller's text of any shape, so it stays out of the JSON of the settings. */
export function settingsText(settings: JobSettings): string {
  return JSON.stringify({ ...settings, metadata: null });
}

export function toStoredJob(row: JobRow): StoredJob {
  const settings = JSON.parse(row.settings) as JobSettings;
  return {
    number: row.number,
    jobId: row.job_id,
    spec: { ...settings, metadata: row.metadata },
    status: row.status,
    imageCount: row.image_count,
    finishedImages: row.finished,
    submittedAt: row.submitted_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    workerId: row.worker_id,
    error: row.error === null ? null : (JSON.parse(row.error) as Problem),
  };
}

export interface EventRow {
  seq: number;
  job_id: string;
  key_id: string | null;
  event: JobEventName;
  status: JobStatus;
  timestamp: number;
  progress: number;
  error: string | null;
}

export function toJobEvent(row: EventRow): JobEvent {
  return {
    event: row.event,
    jobId: row.job_id,
    status: row.status,
    timestamp: row.timestamp,
    seq: row.seq,
    progress: row.progress,
    keyId: row.key_id,
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as Problem }),
  };
}
