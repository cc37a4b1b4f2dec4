/** All jobs that a filter finds, page by page. */
import type { JobFilter } from '../api/job-filters.js';
import type { Job } from '../store/job.js';
import type { JobService } from './job-service.js';

const JOBS_PER_PAGE = 100;

/** The first submitted first. */
export async function* listedJobs(
  jobs: Pick<JobService, 'list'>,
  filter: JobFilter,
): AsyncGenerator<Job, void> {
  let cursor: string | null = null;
  do {
    const page = await jobs.list(filter, { limit: JOBS_PER_PAGE, cursor, sort: '-submitted' });
    yield* page.jobs;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
