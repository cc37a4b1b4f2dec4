/**
 * Writes of the job store. Each public method runs inside a transaction of a group commit; a throw undoes it alone, and
 * the others of its group may run twice. Where `keyId` is null the caller may use any job, else its own only.
 */
import { LatticeError, type Problem } from '../api/errors.js';
import { figuresBy, type JobFigures } from '../api/job-figures.js';
import { labelsOfRetry } from '../api/job-labels.js';
import { jobNotFinished, type Idempotency, type ImageOutcome, type JobSettings } from './job.js';
import {
  MAX_IMAGES,
  taskId,
  type EndedEarly,
  type NewJob,
  type NewOutcome,
  type NewRetry,
  type NewWatchedJob,
  type RecordedBatch,
  type StartedJob,
  type StoredJob,
  type Submission,
  type Submitted,
} from './job-records.js';
import type { ScopeCounts } from './count-rows.js';
import { FIGURES_OF_JOBS, OWN_COLUMNS } from './figure-columns.js';
import { ImageFacts } from './image-rows.js';
import { findByKey, findOwn, readJob, rememberKey } from './job-rows.js';
import { hasEnded, type JobTransitions } from './job-transitions.js';
import { keepJob, saveListing } from './label-rows.js';
import type { RunningTime } from './running-time.js';
import { typedPaths } from './job-title.js';
import type { Statements } from './statements.js';
import { ownerOf } from './owner.js';
import { findUpload } from './upload-rows.js';
import { IMAGE_BYTES, JOB_BYTES, OUTCOME_BYTES, refuseJob } from './key-use-rows.js';
import { queuePicture } from './cameras/queued-pictures.js';
import type { WatchedFiles } from './watched-files.js';

/** Condition for all images of a job, whose task ids lie between two. */
const ANY = 'task >= ? AND task < ?';
/** Images whose entry in the result is an error. */
const WITHOUT_BOXES = `${ANY} AND (outcome IS NULL OR outcome ->> 'status' = 'error')`;
const CANCELLED = new LatticeError('cancelled', 'The job was cancelled before it had finished.');

export class JobWrites {
  readonly #statements: Statements;
  readonly #transitions: JobTransitions;
  readonly #time: RunningTime;
  readonly #watched: WatchedFiles;
  readonly #scopes: ScopeCounts;

  constructor(
    statements: Statements,
    transitions: JobTransitions,
    time: RunningTime,
    watched: WatchedFiles,
    scopes: ScopeCounts,
  ) {
    this.#statements = statements;
    this.#transitions = transitions;
    this.#time = time;
    this.#watched = watched;
    this.#scopes = scopes;
  }

  /** Null: it was not admitted. */
  submit(job: NewJob): Submitted | null {
    const { imagePaths, ...settings } = job.spec;
    const repeat = this.#findRepeat(settings.keyId, job.idempotency);
    if (repeat !== null) return repeat;
    if (!job.admit) return null;
    if (settings.upload !== undefined) {
      findUpload(this.#statements, settings.upload, settings.keyId);
    }
    const images = { count: imagePaths.length, bytes: lengthOf(imagePaths) };
    return this.#add(job, settings, images, {}, (number) => {
      this.#insertImages(number, imagePaths);
    });
  }

  /**
   * A job of those files of a watch that are still to be submitted: the ledger has them from this very write on. Throws
   * `watch_not_found`, or `validation_failed` where none is left. Null: it was not admitted.
   */
  submitFiles(job: NewWatchedJob): Submitted | null {
    if (!job.admit) return null;
    const watch = this.#watched.watch(job.watch);
    const { name, paths, settings: shared } = watch;
    const settings: JobSettings = { ...shared, typed: typedPaths(paths) };
    if (watch.cameraHealth === true) settings.cameraHealth = true;
    if (typeof watch.eventGapS === 'number') settings.eventGapS = watch.eventGapS;
    const files = this.#watched.submittable(job.watch, job.files);
    const imagePaths = files.map(({ path }) => path);
    const images = { count: files.length, bytes: lengthOf(imagePaths) };
    return this.#add(job, settings, images, { watch: name }, (number) => {
      this.#insertImages(number, imagePaths);
      this.#watched.submitted(job.watch, number, files);
    });
  }

  /** A new job of images of an ended one, in their order. Null: it was not admitted. */
  retry(retry: NewRetry): Submitted | null {
    const { retryOf, keyId } = retry;
    const repeat = this.#findRepeat(keyId, retry.idempotency);
    if (repeat !== null) return repeat;
    const ended = findOwn(this.#statements, retryOf, keyId);
    if (!hasEnded(ended.status)) {
      throw jobNotFinished('Only a job that has ended can be retried.');
    }
    const which = retry.images === 'all' ? ANY : WITHOUT_BOXES;
    const images = this.#sizeOf(ended.number, which);
    if (images.count === 0) {
      throw new LatticeError('nothing_to_retry', 'Every image of the job was processed.');
    }
    if (!retry.admit) return null;
    const labels = labelsOfRetry(ended.spec.labels);
    // All are asked for again because their results are not wanted as they are.
    const reuse = retry.images === 'all' ? 'off' : ended.spec.reuse;
    const { origin, modelName = ended.spec.options.modelName } = retry;
    const options = { ...ended.spec.options, modelName };
    // The pictures have counted for their cameras, or came too late to count.
    const changes = {
      options,
      origin,
      keyId,
      labels,
      reuse,
      cameraHealth: undefined,
      eventGapS: undefined,
    };
    const settings: JobSettings = { ...ended.spec, ...changes };
    return this.#add(retry, settings, images, { retryOf }, (number) => {
      this.#copyImages(ended.number, number, which);
    });
  }

  /** pending -> running under the fencing token of this process run; null when the job is not pending any more. */
  start(jobNumber: number, workerId: string, at: number): StartedJob | null {
    const job = this.#transitions.start(jobNumber, workerId, at);
    return job && { job, fencingToken: this.#transitions.fencingToken };
  }

  /**
   * Stores outcomes; with the last one also the end of the job, its event and its webhook. Null, with nothing stored:
   * another fencing token holds the job, or it has ended or is gone.
   */
  record(
    jobNumber: number,
    fencingToken: number,
    outcomes: NewOutcome[],
    workerId: string,
    at: number,
  ): RecordedBatch | null {
    const row = this.#row(jobNumber);
    if (row?.status !== 'running' || row.fencingToken !== fencingToken) return null;
    const toStore =
      row.watch === null ? outcomes : this.#watched.applyOutcomes(jobNumber, outcomes, at);
    const facts = new ImageFacts(this.#statements, jobNumber, row.finishedImages === 0);
    const stored = toStore.filter((outcome) => {
      const path = this.#insertOutcome(jobNumber, outcome);
      if (path !== null) {
        facts.add(outcome, path);
        const { index, look } = outcome;
        const task = taskId(jobNumber, index);
        if (look || row.isFollowed !== 0) queuePicture(this.#statements, { task, path, look, at });
      }
      return path !== null;
    });
    facts.save();
    const finished = row.finishedImages + stored.length;
    const figures = figuresBy((name) => row[name] + facts.figures[name]);
    const succeeded = finished - figures.failedImages;
    const bytes =
      lengthOf(
        stored.flatMap(({ outcome, found, descriptors }) => [
          outcome,
          found ?? '',
          descriptors ?? '',
        ]),
      ) -
      stored.length * OUTCOME_BYTES;
    this.#statements.run(
      `UPDATE jobs SET finished = ?, succeeded = ?, ${OWN_COLUMNS.map(({ column }) => `${column} = ?`).join(', ')},
         worker_id = ?, bytes = bytes + ? WHERE number = ?`,
      finished,
      succeeded,
      ...OWN_COLUMNS.map(({ name }) => figures[name]),
      workerId,
      bytes,
      jobNumber,
    );
    const terminal = finished === row.imageCount;
    if (terminal) this.#transitions.end(jobNumber, succeeded > 0 ? null : this.#failureOf(row), at);
    return { stored: stored.length, finishedImages: finished, ...figures, terminal };
  }

  cancel(jobId: string, keyId: string | null, at: number): EndedEarly {
    const { number } = findOwn(this.#statements, jobId, keyId);
    const ended = this.fail(number, at, CANCELLED.toProblem());
    if (ended !== null) return ended;
    throw new LatticeError('job_already_finished', 'The job has already ended.');
  }

  /**
   * Removes an ended job, and with it its counts and its webhooks, also those still to be sent; the sweeps remove its
   * images. Throws `job_not_finished`.
   */
  remove(jobId: string, keyId: string | null): void {
    const { number, status } = findOwn(this.#statements, jobId, keyId);
    if (!hasEnded(status)) throw jobNotFinished(`The job is ${status}: cancel it first.`);
    this.#scopes.jobRemoved(number, false);
    this.#statements.run('DELETE FROM jobs WHERE number = ?', number);
  }

  /** Ends the job with `error`; null when it has ended or is gone. */
  fail(jobNumber: number, at: number, error: Problem): EndedEarly | null {
    const row = this.#row(jobNumber);
    if (row === null || hasEnded(row.status)) return null;
    this.#watched.release(jobNumber);
    this.#statements.run(
      'UPDATE jobs SET bytes = bytes - ? WHERE number = ?',
      (row.imageCount - row.finishedImages) * OUTCOME_BYTES,
      jobNumber,
    );
    this.#transitions.end(jobNumber, error, at);
    return { job: readJob(this.#statements, jobNumber), from: row.status };
  }

  /** Counts one death per task; a marker that was charged before changes nothing. */
  chargeDeaths(markerId: string, tasks: number[]): number {
    const isNew = this.#statements.run(
      `INSERT INTO charged_markers (marker, charged_at) VALUES (?, unixepoch('subsec'))
       ON CONFLICT (marker) DO NOTHING`,
      markerId,
    );
    if (isNew === 0) return 0;
    return tasks.reduce((charged, task) => {
      const sql = 'UPDATE job_images SET deaths = deaths + 1 WHERE task = ? AND outcome IS NULL';
      return charged + this.#statements.run(sql, task);
    }, 0);
  }

  #findRepeat(keyId: string | null, idempotency: Idempotency | null): Submitted | null {
    const known = idempotency && findByKey(this.#statements, keyId, idempotency);
    if (known === null) return null;
    if (known.sameBody) return { job: known.job, replayed: true };
    const detail = 'The Idempotency-Key was used with another body before.';
    throw new LatticeError('idempotency_key_reused', detail);
  }

  /** `addImages` stores the images of the job with the number that it gets. */
  #add(
    { jobId, submittedAt, idempotency, allowed, scoreFloor }: Submission,
    settings: JobSettings,
    { count: imageCount, bytes: pathBytes }: { count: number; bytes: number },
    { retryOf = null, watch = null }: { retryOf?: string | null; watch?: string | null },
    addImages: (jobNumber: number) => void,
  ): Submitted {
    if (imageCount === 0 || imageCount >= MAX_IMAGES) {
      const detail = `A job has 1 to ${MAX_IMAGES - 1} images, not ${imageCount}.`;
      throw new LatticeError('validation_failed', detail, { errors: [{ detail }] });
    }
    if (allowed) refuseJob(this.#statements, ownerOf(settings.keyId), allowed);
    const { labels, typed, metadata, ...stored } = settings;
    const texts = [
      JSON.stringify({ ...stored, scoreFloor }),
      metadata ?? '',
      JSON.stringify(typed.paths),
    ] as const;
    const bytes =
      JOB_BYTES + lengthOf(texts) + pathBytes + imageCount * (IMAGE_BYTES + OUTCOME_BYTES);
    const number = this.#statements.insert(
      `INSERT INTO jobs (job_id, key_id, job_type, status, priority, settings, metadata, image_count, submitted_at,
         retry_of, watch, upload, name, tags, notes, typed_paths, typed_count, bytes)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      jobId,
      settings.keyId,
      settings.jobType,
      settings.priority,
      texts[0],
      metadata,
      imageCount,
      submittedAt,
      retryOf,
      watch,
      settings.upload ?? null,
      labels.name,
      JSON.stringify(labels.tags),
      labels.notes,
      texts[2],
      typed.count,
      bytes,
    );
    if (labels.keep !== false) {
      keepJob(this.#statements, this.#time, number, labels.keep, submittedAt);
    }
    if (settings.upload !== undefined) {
      this.#statements.run('UPDATE uploads SET taken = 1 WHERE upload_id = ?', settings.upload);
    }
    addImages(number);
    const job = this.#transitions.created(number, submittedAt);
    saveListing(this.#statements, job);
    if (idempotency !== null) {
      rememberKey(this.#statements, settings.keyId, idempotency, jobId, submittedAt);
    }
    return { job, replayed: false };
  }

  #insertImages(jobNumber: number, paths: readonly string[]): void {
    paths.forEach((path, index) => {
      const task = taskId(jobNumber, index);
      this.#statements.run('INSERT INTO job_images (task, path) VALUES (?, ?)', task, path);
    });
  }

  #sizeOf(jobNumber: number, which: string): { count: number; bytes: number } {
    return this.#statements.get(
      `SELECT count(*) AS count, coalesce(sum(length(path)), 0) AS bytes FROM job_images WHERE ${which}`,
      taskId(jobNumber, 0),
      taskId(jobNumber + 1, 0),
    ) as { count: number; bytes: number };
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

  /** The path of the image; null, with nothing stored: it has an outcome. */
  #insertOutcome(jobNumber: number, { index, outcome }: NewOutcome): string | null {
    const row = this.#statements.get(
      'UPDATE job_images SET outcome = ? WHERE task = ? AND outcome IS NULL RETURNING path',
      outcome,
      taskId(jobNumber, index),
    ) as { path: string } | undefined;
    return row?.path ?? null;
  }

  /** The error of a failed job. With one image it is the error of the image; with several it names the first one. */
  #failureOf(row: OpenRow): Problem {
    const { outcome } = this.#statements.get(
      'SELECT outcome FROM job_images WHERE task = ?',
      taskId(row.number, 0),
    ) as { outcome: string };
    const first = JSON.parse(outcome) as ImageOutcome;
    if (first.status === 'ok')
      throw new Error(`Job ${row.number} failed with an image that is ok.`);
    if (row.imageCount === 1) return first.error;
    const { code, detail } = first.error;
    return new LatticeError(
      'all_images_failed',
      `None of the ${row.imageCount} images could be processed. The first: ${code}: ${detail}`,
    ).toProblem();
  }

  #row(jobNumber: number): OpenRow | null {
    const row = this.#statements.get(
      `SELECT number, status, image_count AS imageCount, finished AS finishedImages, ${FIGURES_OF_JOBS}, watch,
         lease AS fencingToken, coalesce(settings ->> '$.places', 0) OR settings ->> '$.eventGapS' IS NOT NULL AS isFollowed
       FROM jobs WHERE number = ?`,
      jobNumber,
    ) as OpenRow | undefined;
    return row ?? null;
  }
}

function lengthOf(texts: readonly (string | Uint8Array)[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** The facts of a job that its outcomes need. */
interface OpenRow
  extends
    JobFigures,
    Pick<StoredJob, 'number' | 'status' | 'imageCount' | 'finishedImages' | 'watch'> {
  fencingToken: number | null;
  /** 1: vehicles that stand, or events, are told. */
  isFollowed: number;
}
