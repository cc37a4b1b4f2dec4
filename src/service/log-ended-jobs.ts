import { isEnd } from '../api/events.js';
import { toWireFigures } from '../api/job-figures.js';
import type { Logger } from '../base/logger-port.js';
import type { JobService } from '../jobs/job-service.js';

/** Logs one line per job that has ended; the line of the request that submitted it has its id too. */
export function logEndedJobs(jobs: Pick<JobService, 'onEvent'>, logger: Logger): void {
  jobs.onEvent((event) => {
    if (!isEnd(event.event)) return;
    const { jobId, status, watch, error } = event;
    const fields = {
      job_id: jobId,
      status,
      ...toWireFigures(event),
      watch: watch ?? undefined,
      code: error?.code,
    };
    logger.info(fields, 'job ended');
  });
}
