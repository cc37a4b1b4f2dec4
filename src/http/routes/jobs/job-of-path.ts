/** The job that the path of a request names. */
import { z } from '@hono/zod-openapi';
import { LatticeError, type ErrorCode } from '../../../api/errors.js';
import { jobNotFinished, progressOf, type Job } from '../../../store/job.js';
import type { JobService } from '../../../jobs/job-service.js';
import type { AppContext } from '../../app-env.js';
import { jobIdSchema } from '../../../answers/job-fields.js';

/** Parameters and errors in the specification of every route with a job in its path. */
export const params = z.object({ job_id: jobIdSchema });
export const JOB_ERRORS = ['job_not_found', 'storage_unavailable'] as const satisfies ErrorCode[];
export const ofJob = { tags: ['Jobs'], request: { params }, errors: JOB_ERRORS };

/** Ids that no job can have are not looked up. */
export const JOB_ID = /^[\w.:-]{1,128}$/;

export function jobId(c: AppContext): string {
  const id = c.req.param('job_id') ?? '';
  if (!JOB_ID.test(id)) throw new LatticeError('job_not_found', 'No job has this id.');
  c.set('jobId', id);
  return id;
}

/** Rejects with `job_not_found` also for the job of another key. */
export function jobOfPath(c: AppContext, jobs: Pick<JobService, 'get'>): Promise<Job> {
  return jobs.get(jobId(c), c.get('keyId'));
}

export function notFinished(job: Job): LatticeError {
  return jobNotFinished(`The job is ${job.status}.`, secondsLeft(job));
}

/** Seconds until the rest is done at the pace since the start, 1 to 60; time in which the service was down counts. */
function secondsLeft(job: Job): number {
  const progress = progressOf(job);
  if (job.startedAt === null || progress === 0) return 1;
  const elapsed = Date.now() / 1000 - job.startedAt;
  return Math.min(Math.max(Math.ceil((elapsed * (1 - progress)) / progress), 1), 60);
}
