import { isEnd } from '../api/events.js';
import { readTraceparent } from '../base/trace-context.js';
import type { Tracing } from '../base/tracing-port.js';
import type { JobService } from '../jobs/job-service.js';

/** A span per job, from its submission to its end, in the trace of the request that submitted it. */
export function traceEndedJobs(
  jobs: Pick<JobService, 'onEvent' | 'get'>,
  tracing: Tracing | null,
): void {
  if (tracing === null) return;
  jobs.onEvent(({ event, jobId, timestamp }) => {
    if (!isEnd(event)) return;
    // A job that is gone by now has no span.
    jobs.get(jobId, null).then(
      ({ spec: { origin, options, jobType }, submittedAt, imageCount, failedImages, error }) => {
        tracing.record(
          `job ${jobType}`,
          readTraceparent(origin?.traceparent),
          { from: submittedAt, to: timestamp },
          {
            'lattice.job_id': jobId,
            'lattice.request_id': origin?.requestId,
            'lattice.model': options.modelName,
            'lattice.images': imageCount,
            'lattice.failed_images': failedImages,
            'error.type': error?.code,
          },
          event === 'job_failed',
        );
      },
      () => undefined,
    );
  });
}
