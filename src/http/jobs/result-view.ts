/** A job that has ended and its images -> the result record. */
import { LatticeError, type Problem } from '../../errors.js';
import type { ImageEntry, Job } from '../../jobs/job.js';
import { countCars, viewImage } from '../inference/image-view.js';
import { hideInProblem, type HideFolders } from '../problem.js';
import type {
  ImageEntryBody,
  JobResultBody,
  MultiResultBody,
  SingleResultBody,
} from './job.schema.js';

/** What all images come to. */
export type Totals = Omit<MultiResultBody, 'images'>;

/** `images` are all entries of the job in input order. */
export function viewResult(
  job: Job,
  images: readonly ImageEntry[],
  hide: HideFolders,
): JobResultBody {
  return {
    ...viewHead(job),
    result: images.length === 1 ? viewSingle(job, images[0]) : viewMulti(job, images, hide),
    ...viewTail(job, hide),
  };
}

/** What stands before `result`. */
export function viewHead(job: Job): Pick<JobResultBody, 'job_id' | 'status'> {
  return { job_id: job.jobId, status: job.status };
}

/** What stands after `result`. */
export function viewTail(
  job: Job,
  hide: HideFolders,
): Omit<JobResultBody, 'job_id' | 'status' | 'result'> {
  return {
    error: job.error === null ? null : hideInProblem(job.error, hide),
    submitted_at: job.submittedAt,
    completed_at: job.completedAt ?? job.submittedAt,
    metadata:
      job.spec.metadata === null
        ? null
        : (JSON.parse(job.spec.metadata) as Record<string, unknown>),
  };
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

/** Adds images up one by one, so that nobody has to hold them all. */
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

  totals(job: Job): Totals {
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

/** Null when the image gave no boxes; the record's `error` says why. */
function viewSingle(job: Job, entry: ImageEntry | undefined): SingleResultBody | null {
  if (entry?.outcome?.status !== 'ok') return null;
  return {
    image_path: entry.path,
    ...viewImage(entry.outcome, entry.outcome.annotatedPath),
    model: job.spec.modelName,
    worker_id: entry.outcome.workerId ?? job.workerId,
  };
}

function viewMulti(job: Job, entries: readonly ImageEntry[], hide: HideFolders): MultiResultBody {
  const tally = new Tally();
  const images = entries.map((entry) => viewEntry(job, entry, hide));
  for (const image of images) tally.add(image);
  return { images, ...tally.totals(job) };
}

/** The job ended before this image had its turn. */
function notProcessed(job: Job): Problem {
  return job.error ?? new LatticeError('cancelled', 'The job ended first.').toProblem();
}
