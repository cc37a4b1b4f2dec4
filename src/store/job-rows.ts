/** Rows of `jobs` as jobs of the service, and the idempotency keys with which they were submitted. */
import type { Problem } from '../api/errors.js';
import { figuresOf } from '../api/job-figures.js';
import type { Keep } from '../api/job-labels.js';
import { DEFAULT_PARAMETERS } from '../api/options.js';
import { DEFAULT_FIELDS } from '../api/submission-fields.js';
import { FIGURES_OF_JOBS } from './figure-columns.js';
import { jobNotFound, type Idempotency, type JobModelUse, type JobSettings } from './job.js';
import type { StoredJob } from './job-records.js';
import type { Statements } from './statements.js';

export const JOB_COLUMNS = `number, job_id AS jobId, status, settings, metadata, image_count AS imageCount,
  finished AS finishedImages, ${FIGURES_OF_JOBS}, retry_of AS retryOf, watch, submitted_at AS submittedAt, started_at AS startedAt, completed_at AS completedAt,
  worker_id AS workerId, error, name, tags, notes, keep_days AS keepDays,
  (SELECT json_group_array(json_object('name', coalesce(job_models.name, settings ->> '$.options.modelName'), 'digest', digest, 'source', source, 'precision', precision, 'images', images))
   FROM job_models WHERE job = number) AS models,
  kept_at + keep_days * 86400 AS keptUntil, typed_paths AS typedPaths, typed_count AS typedCount`;

/** `metadata` and what follows are texts from the caller, so they are not part of the JSON of the settings. */
export interface JobRow extends Omit<StoredJob, 'spec' | 'error' | 'models'> {
  settings: string;
  metadata: string | null;
  error: string | null;
  models: string;
  name: string | null;
  tags: string;
  notes: string | null;
  keepDays: number | null;
  typedPaths: string;
  typedCount: number;
}

/**
 * Field by field, and with `Object.assign`: V8 copies the rest of a row, and several objects spread into one, in five
 * times the time.
 */
export function toStoredJob(row: JobRow): StoredJob {
  const { number, jobId, status, imageCount, finishedImages, retryOf, watch, workerId } = row;
  const { submittedAt, startedAt, completedAt, keptUntil } = row;
  return {
    number,
    jobId,
    status,
    imageCount,
    finishedImages,
    ...figuresOf(row),
    retryOf,
    watch,
    submittedAt,
    startedAt,
    completedAt,
    workerId,
    keptUntil,
    spec: specOf(row),
    models: JSON.parse(row.models) as JobModelUse[],
    error: readError(row.error),
  };
}

function specOf(row: JobRow): StoredJob['spec'] {
  const { settings, metadata, name, tags, notes, keepDays, typedPaths, typedCount } = row;
  const stored = JSON.parse(settings) as JobSettings;
  // A setting that is newer than the job has its default.
  return Object.assign({}, DEFAULT_FIELDS, stored, {
    options: Object.assign({}, DEFAULT_PARAMETERS, stored.options),
    metadata,
    labels: { name, tags: JSON.parse(tags) as string[], notes, keep: toKeep(keepDays) },
    typed: { paths: JSON.parse(typedPaths) as string[], count: typedCount },
  });
}

export function readError(error: string | null): Problem | null {
  return error === null ? null : (JSON.parse(error) as Problem);
}

/** The settings of a job that its boxes depend on, of `jobs.settings`. */
export function askedSettings(settings: string): Pick<JobSettings, 'options' | 'scoreFloor'> {
  const { options, scoreFloor } = JSON.parse(settings) as JobSettings;
  return {
    options: { ...DEFAULT_PARAMETERS, ...options },
    ...(scoreFloor !== undefined && { scoreFloor }),
  };
}

function toKeep(days: number | null): Keep {
  if (days === null) return false;
  return days === 0 ? true : days;
}

/** The caller knows that the job is there. */
export function readJob(statements: Statements, jobNumber: number): StoredJob {
  const sql = `SELECT ${JOB_COLUMNS} FROM jobs WHERE number = ?`;
  return toStoredJob(statements.get(sql, jobNumber) as JobRow);
}

function findJob(statements: Statements, jobId: string): StoredJob | null {
  const sql = `SELECT ${JOB_COLUMNS} FROM jobs WHERE job_id = ?`;
  const row = statements.get(sql, jobId) as JobRow | undefined;
  return row === undefined ? null : toStoredJob(row);
}

/** Any job where `keyId` is null, else one of this owner. Throws `job_not_found`. */
export function findOwn(statements: Statements, jobId: string, keyId: string | null): StoredJob {
  const job = findJob(statements, jobId);
  if (job === null || (keyId !== null && job.spec.keyId !== keyId)) throw jobNotFound();
  return job;
}

/** Null: the key is free. Equal keys of different owners are different keys. */
export function findByKey(
  statements: Statements,
  keyId: string | null,
  { key, fingerprint }: Idempotency,
): { job: StoredJob; sameBody: boolean } | null {
  const known = statements.get(
    'SELECT fingerprint, job_id FROM idempotency WHERE key = ?',
    ownedKey(keyId, key),
  ) as { fingerprint: string; job_id: string } | undefined;
  if (known === undefined) return null;
  const job = findJob(statements, known.job_id);
  // A job that retention has removed leaves its key free again.
  return job && { job, sameBody: known.fingerprint === fingerprint };
}

export function rememberKey(
  statements: Statements,
  keyId: string | null,
  { key, fingerprint }: Idempotency,
  jobId: string,
  at: number,
): void {
  statements.run(
    'INSERT OR REPLACE INTO idempotency (key, fingerprint, job_id, created_at) VALUES (?, ?, ?, ?)',
    ownedKey(keyId, key),
    fingerprint,
    jobId,
    at,
  );
}

/** JSON keeps (a, bc) and (ab, c) apart. */
function ownedKey(keyId: string | null, key: string): string {
  return JSON.stringify([keyId, key]);
}
