/** Writes that make jobs. Each method runs inside a savepoint of a group commit; a throw undoes it alone. */
import { LatticeError } from '../../api/errors.js';
import type { Idempotency, JobSettings } from '../job.js';
import {
  MAX_IMAGES,
  taskId,
  type NewJob,
  type NewRetry,
  type RetryOutcome,
  type StoredJob,
  type SubmitOutcome,
} from '../job-records.js';
import { findByKey, rememberKey } from './idempotency-keys.js';
import { JOB_COLUMNS, toStoredJob, type JobRow } from './job-row.js';
import { hasEnded, type JobTransitions } from './job-transitions.js';
import type { Statements } from './statements.js';

interface JobRecord {
  jobId: string;
  settings: JobSettings;
  imageCount: number;
  submittedAt: number;
  retryOf: string | null;
}

export class JobSubmits {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;

  constructor(statements: Statements, transitions: JobTransitions) {
    this.#statements = statements;
    this.#transitions = transitions;
  }

  submit(job: NewJob): SubmitOutcome {
    const { spec, idempotency, jobId, submittedAt } = job;
    const repeat = this.#findRepeat(spec.keyId, idempotency);
    if (repeat !== null) return repeat;
    if (!job.admit) return { kind: 'not_admitted' };
    const { imagePaths, ...settings } = spec;
    const imageCount = imagePaths.length;
    const number = this.#insertJob({ jobId, settings, imageCount, submittedAt, retryOf: null });
    imagePaths.forEach((path, index) => {
      const task = taskId(number, index);
      this.#statements.run('INSERT INTO job_images (task, path) VALUES (?, ?)', task, path);
    });
    return this.#stored(number, job, spec.keyId);
  }

  /** A new job of images of an ended one, in their order. */
  retry(retry: NewRetry): RetryOutcome {
    const { retryOf, keyId, idempotency, jobId, submittedAt } = retry;
    const repeat = this.#findRepeat(keyId, idempotency);
    if (repeat !== null) return repeat;
    const ended = this.#find(retryOf, keyId);
    if (ended === null) return { kind: 'missing' };
    if (!hasEnded(ended.status)) return { kind: 'not_ended' };
    const imageCount =
      retry.images === 'all' ? ended.imageCount : this.#imagesWithoutBoxes(ended.number);
    if (imageCount === 0) return { kind: 'nothing_failed' };
    if (!retry.admit) return { kind: 'not_admitted' };
    const settings = { ...ended.spec, keyId };
    const number = this.#insertJob({ jobId, settings, imageCount, submittedAt, retryOf });
    this.#copyImages(ended.number, number, retry.images === 'all' ? ANY : WITHOUT_BOXES);
    return this.#stored(number, retry, keyId);
  }

  #findRepeat(keyId: string | null, idempotency: Idempotency | null): SubmitOutcome | null {
    if (idempotency === null) return null;
    const known = findByKey(this.#statements, keyId, idempotency);
    if (known === null) return null;
    return known.sameBody ? { kind: 'replayed', job: known.job } : { kind: 'key_reused' };
  }

  /** Gives the number of the job. Its images are for the caller to store. */
  #insertJob({ jobId, settings, imageCount, submittedAt, retryOf }: JobRecord): number {
    if (imageCount === 0 || imageCount >= MAX_IMAGES) {
      const detail = `A job has 1 to ${MAX_IMAGES - 1} images, not ${imageCount}.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    return this.#statements.insert(
      `INSERT INTO jobs (job_id, key_id, job_type, status, priority, settings, metadata, image_count, submitted_at,
         retry_of)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)`,
      jobId,
      settings.keyId,
      settings.jobType,
      settings.priority,
      JSON.stringify({ ...settings, metadata: null }),
      settings.metadata,
      imageCount,
      submittedAt,
      retryOf,
    );
  }

  #stored(
    number: number,
    { jobId, submittedAt, idempotency }: Pick<NewJob, 'jobId' | 'submittedAt' | 'idempotency'>,
    keyId: string | null,
  ): { kind: 'stored'; job: StoredJob } {
    const job = this.#transitions.created(number, submittedAt);
    if (idempotency !== null) {
      rememberKey(this.#statements, keyId, idempotency, jobId, submittedAt);
    }
    return { kind: 'stored', job };
  }

  #find(jobId: string, keyId: string | null): StoredJob | null {
    const sql = `SELECT ${JOB_COLUMNS} FROM jobs WHERE job_id = ?`;
    const row = this.#statements.get(sql, jobId) as JobRow | undefined;
    const job = row === undefined ? null : toStoredJob(row);
    return job === null || (keyId !== null && job.spec.keyId !== keyId) ? null : job;
  }

  #imagesWithoutBoxes(jobNumber: number): number {
    const { images } = this.#statements.get(
      `SELECT count(*) AS images FROM job_images WHERE ${WITHOUT_BOXES}`,
      taskId(jobNumber, 0),
      taskId(jobNumber + 1, 0),
    ) as { images: number };
    return images;
  }

  #copyImages(from: number, to: number, which: string): void {
    this.#statements.run(
      `INSERT INTO job_images (task, path)
       SELECT ? + row_number() OVER (ORDER BY task) - 1, path FROM job_images WHERE ${which}`,
      taskId(to, 0),
      taskId(from, 0),
      taskId(from + 1, 0),
    );
  }
}

/** Between two task ids. */
const ANY = 'task >= ? AND task < ?';
/** Images whose entry in the result is an error. */
const WITHOUT_BOXES = `${ANY} AND (outcome IS NULL OR outcome ->> 'status' = 'error')`;
