import { isEnd } from '../api/events.js';
import type { Logger } from '../base/logger-port.js';
import type { JobService } from '../jobs/job-service.js';

/** One line of the log per job that has ended; the line of the request that submitted it has its id too. */
export function logEndedJobs(jobs: Pick<JobService, 'onEvent'>, logger: Logger): void {
  jobs.onEvent(({ event, jobId, status, failedImages, reusedImages, watch, error }) => {
    if (!isEnd(event)) return;
    const fields = {
      job_id: jobId,
      status,
      failed_images: failedImages,
      reused_images: reusedImages,
      watch: watch ?? undefined,
      code: error?.code,
    };
    logger.info(fields, 'job ended');
  });
}
