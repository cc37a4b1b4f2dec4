/** A job that has ended, and its images in pages as the store gives them. */
import type { ImageEntry, Job } from '../../src/jobs/job.js';
import { specOf } from '../jobs/job-folder.js';

export function endedJob(imageCount: number, changes: Partial<Job> = {}): Job {
  return {
    jobId: 'job_1',
    spec: specOf(),
    status: 'completed',
    imageCount,
    firstPath: 'a.jpg',
    finishedImages: imageCount,
    failedImages: 0,
    retryOf: null,
    submittedAt: 1.25,
    startedAt: 2.5,
    completedAt: 4.75,
    workerId: 'worker-1',
    error: null,
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
