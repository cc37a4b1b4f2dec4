/** A job -> its wire shapes. */
import { progressOf, type Job } from '../../jobs/job.js';
import type { WebhookDeliveryState } from '../../jobs/webhook-delivery.js';
import { hideInProblem, type HideFolders } from '../problem.js';
import type { JobAcceptedBody, JobStatusBody, WebhookBody } from './job.schema.js';

export function viewAccepted(job: Job, replayed: boolean): JobAcceptedBody {
  const images = job.imageCount === 1 ? '1 image' : `${job.imageCount} images`;
  return {
    job_id: job.jobId,
    status: job.status,
    message: replayed ? 'Job was accepted before.' : `Job accepted with ${images}.`,
  };
}

/** Longer metadata is not searched for a title: a list has many jobs. */
const LONGEST_SEARCHED = 4_096;

function titleOf({ spec: { metadata }, firstPath }: Job): string {
  if (metadata === null || metadata.length > LONGEST_SEARCHED) return firstPath;
  const { title, name } = JSON.parse(metadata) as Record<string, unknown>;
  for (const text of [title, name]) if (typeof text === 'string' && text !== '') return text;
  return firstPath;
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
    title: titleOf(job),
    priority: job.spec.priority,
    image_count: job.imageCount,
    finished_images: job.finishedImages,
    failed_images: job.failedImages,
    retry_of: job.retryOf,
    error: job.error === null ? null : hideInProblem(job.error, hide),
  };
}

/** Without the URL: it may carry a secret of the receiver's, and the submitter knows it. */
export function viewWebhook(delivery: WebhookDeliveryState): WebhookBody {
  return {
    webhook_id: delivery.deliveryId,
    state: delivery.state,
    attempts: delivery.attemptsMade,
    created_at: delivery.createdAt,
    next_attempt_at: delivery.nextAttemptAt,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError,
  };
}
