/** A job that has ended and its images -> the result record. */
import { LatticeError, type Problem } from '../../api/errors.js';
import type { ImageEntry, Job } from '../../jobs/job.js';
import { countCars, viewImage } from '../inference/image-view.js';
import { hideInProblem, type HideFolders } from '../problem.js';
import type { ImageEntryBody, JobResultBody, MultiResultBody } from './job-result.schema.js';

/** The record of a job of one image. Its `result` is null when the image gave no boxes; `error` says why. */
export function viewSingleResult(
  job: Job,
  { path, outcome }: ImageEntry,
  hide: HideFolders,
): JobResultBody {
  const result =
    outcome?.status === 'ok'
      ? {
          image_path: path,
          ...viewImage(outcome, outcome.annotatedPath),
          model: job.spec.modelName,
          worker_id: outcome.workerId ?? job.workerId,
        }
      : null;
  return { ...viewHead(job), result, ...viewTail(job, hide) };
}

/**
 * The record of a job of several images as JSON text, one piece per page. A page is read when its piece is requested.
 * Throws what `pages` throws; the pieces until then are not valid JSON.
 */
export async function* resultText(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): AsyncGenerator<string, void> {
  const tally = new Tally();
  let text = `{${fieldsOf(viewHead(job))},"result":{"images":[`;
  let count = 0;
  for await (const page of pages) {
    for (const entry of page) {
      const image = viewEntry(job, entry, hide);
      tally.add(image);
      text += `${count === 0 ? '' : ','}${JSON.stringify(image)}`;
      count += 1;
    }
    // The last piece waits for the end, so that one page makes one piece.
    if (count >= job.imageCount) continue;
    yield text;
    text = '';
  }
  yield `${text}],${fieldsOf(tally.totals(job))}},${fieldsOf(viewTail(job, hide))}}`;
}

/** The fields of an object as JSON without the braces. */
function fieldsOf(value: object): string {
  return JSON.stringify(value).slice(1, -1);
}

type ResultHead = Pick<JobResultBody, 'job_id' | 'status' | 'failed_images'>;

/** The fields before `result`. */
export function viewHead(job: Job): ResultHead {
  return { job_id: job.jobId, status: job.status, failed_images: job.failedImages };
}

/** The fields after `result`. */
export function viewTail(
  job: Job,
  hide: HideFolders,
): Omit<JobResultBody, keyof ResultHead | 'result'> {
  return {
    error: job.error === null ? null : hideInProblem(job.error, hide),
    submitted_at: job.submittedAt,
    completed_at: job.completedAt ?? job.submittedAt,
    metadata: metadataOf(job),
  };
}

export function metadataOf({ spec: { metadata } }: Job): Record<string, unknown> | null {
  return metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>);
}

export function viewEntry(
  job: Job,
  { path, outcome }: ImageEntry,
  hide: HideFolders,
): ImageEntryBody {
  if (outcome?.status === 'ok') {
    return {
      image_path: path,
      status: 'ok',
      ...viewImage(outcome, outcome.annotatedPath),
      worker_id: outcome.workerId ?? job.workerId,
    };
  }
  return {
    image_path: path,
    status: 'error',
    error: hideInProblem(outcome?.error ?? notProcessed(job), hide),
  };
}

/** Adds images up one by one, so that they need not be in memory together. */
export class Tally {
  readonly #classes = new Map<string, number>();
  #total = 0;
  #succeeded = 0;
  #failed = 0;

  add(entry: ImageEntryBody): void {
    if (entry.status === 'error') {
      this.#failed += 1;
      return;
    }
    this.#succeeded += 1;
    this.#total += entry.total_count;
    for (const [name, count] of Object.entries(entry.class_counts)) {
      this.#classes.set(name, (this.#classes.get(name) ?? 0) + count);
    }
  }

  totals(job: Job): Omit<MultiResultBody, 'images'> {
    const startedAt = job.startedAt ?? job.submittedAt;
    return {
      car_count: countCars(this.#classes),
      total_count: this.#total,
      class_counts: Object.fromEntries(this.#classes),
      succeeded: this.#succeeded,
      failed: this.#failed,
      processing_time_ms: Math.max(0, ((job.completedAt ?? startedAt) - startedAt) * 1000),
      model: job.spec.modelName,
      worker_id: job.workerId,
    };
  }
}

/** The job ended before this image had its turn. */
function notProcessed(job: Job): Problem {
  return job.error ?? new LatticeError('cancelled', 'The job ended first.').toProblem();
}
