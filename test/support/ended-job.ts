/** A job that has ended, its images in pages as the store gives them, and its webhook. */
import type { ImageEntry, Job } from '../../src/store/job.js';
import type { WebhookDeliveryState } from '../../src/store/webhook-delivery.js';
import { specOf } from '../jobs/job-folder.js';

export function endedJob(imageCount: number, changes: Partial<Job> = {}): Job {
  return {
    jobId: 'job_1',
    spec: specOf(),
    status: 'completed',
    imageCount,
    finishedImages: imageCount,
    failedImages: 0,
    reusedImages: 0,
    models: [],
    retryOf: null,
    watch: null,
    submittedAt: 1.25,
    startedAt: 2.5,
    completedAt: 4.75,
    workerId: 'worker-1',
    error: null,
    keptUntil: null,
    ...changes,
  };
}

export async function* pagesOf(
  images: ImageEntry[],
  size: number,
): AsyncGenerator<ImageEntry[], void> {
  for (let from = 0; from < images.length; from += size) {
    yield await Promise.resolve(images.slice(from, from + size));
  }
}

/** After an attempt that failed, before the next one. */
export const pendingDelivery: WebhookDeliveryState = {
  deliveryId: 'msg_1',
  jobId: 'job_1',
  url: 'http://h/x?token=secret',
  host: 'h',
  attempt: 1,
  createdAt: 1.5,
  news: null,
  state: 'pending',
  nextAttemptAt: 6.5,
  lastStatus: 500,
  lastError: 'HTTP 500',
  attemptsMade: 8,
  attempts: [{ at: 2.5, durationMs: 12.5, status: 500, error: 'HTTP 500' }],
};
