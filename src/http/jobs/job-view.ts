/** A job and its images -> their wire shapes. Shared with the webhooks, whose `data` is the result record. */
import { LatticeError, type Problem } from '../../errors.js';
import type { ImageEntry, Job } from '../../jobs/job.js';
import type { WebhookDeliveryState } from '../../jobs/webhook-delivery.js';
import { countCars, countClasses, viewImage } from '../inference/image-view.js';
import { hideInProblem, type HideFolders } from '../problem.js';
import type {
  ImageEntryBody,
  JobAcceptedBody,
  JobResultBody,
  JobStatusBody,
  MultiResultBody,
  SingleResultBody,
  WebhookBody,
} from './job.schema.js';

export function progressOf(job: Job): number {
  if (job.imageCount === 0) return job.status === 'completed' ? 1 : 0;
  return job.finishedImages / job.imageCount;
}

export function viewAccepted(job: Job, replayed: boolean): JobAcceptedBody {
  const images = job.imageCount === 1 ? '1 image' : `${job.imageCount} images`;
  return {
    job_id: job.jobId,
    status: job.status,
    message: replayed ? 'Job was accepted before.' : `Job accepted with ${images}.`,
  };
}

export function viewStatus(job: Job, hide: HideFolders): JobStatusBody {
  return {
    job_id: job.jobId,
    status: job.status,
    submitted_at: job.submittedAt,
    started_at: job.startedAt,
    completed_at: job.completedAt,
    progress: progressOf(job),
    worker_id: job.workerId,
    job_type: job.spec.jobType,
    priority: job.spec.priority,
    image_count: job.imageCount,
    finished_images: job.finishedImages,
    error: job.error === null ? null : hideInProblem(job.error, hide),
  };
}

/** Without the URL: it may carry a secret of the receiver's, and the submitter knows it. */
export function viewWebhook(delivery: WebhookDeliveryState): WebhookBody {
  return {
    webhook_id: delivery.deliveryId,
    state: delivery.state,
    attempts: delivery.attempt,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
  };
}

/** `job` has ended; `images` are its entries in input order. */
export function viewResult(
  job: Job,
  images: readonly ImageEntry[],
  hide: HideFolders,
): JobResultBody {
  return {
    job_id: job.jobId,
    status: job.status,
    result: images.length === 1 ? viewSingle(job, images[0]) : viewMulti(job, images, hide),
    error: job.error === null ? null : hideInProblem(job.error, hide),
    submitted_at: job.submittedAt,
    completed_at: job.completedAt ?? job.submittedAt,
    metadata:
      job.spec.metadata === null
        ? null
        : (JSON.parse(job.spec.metadata) as Record<string, unknown>),
  };
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
  const images = entries.map((entry) => viewEntry(job, entry, hide));
  const succeeded = images.filter((image) => image.status === 'ok');
  const counts = countClasses(succeeded.flatMap((image) => image.detections));
  const startedAt = job.startedAt ?? job.submittedAt;
  return {
    images,
    car_count: countCars(counts),
    total_count: succeeded.reduce((sum, image) => sum + image.total_count, 0),
    class_counts: Object.fromEntries(counts),
    succeeded: succeeded.length,
    failed: images.length - succeeded.length,
    processing_time_ms: Math.max(0, ((job.completedAt ?? startedAt) - startedAt) * 1000),
    model: job.spec.modelName,
    worker_id: job.workerId,
  };
}

function viewEntry(job: Job, { path, outcome }: ImageEntry, hide: HideFolders): ImageEntryBody {
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

/** The job ended before this image had its turn. */
function notProcessed(job: Job): Problem {
  return job.error ?? new LatticeError('cancelled', 'The job ended first.').toProblem();
}
