/** Up to when drawn copies may be removed: a copy of a kept job was drawn after the job was submitted. */
import type { JobService } from '../jobs/job.js';

const PAGE = 500;

/**
 * `before` (Unix milliseconds), or when the oldest kept job was submitted where that is earlier. A result lives for its
 * time from the end of its job, so the copies of a job that waited or ran long are older than that time.
 */
export async function oldestKeptJob(
  jobs: Pick<JobService, 'list'>,
  before: number,
): Promise<number> {
  let oldest = before;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<JobService['list']>> = await jobs.list(
      { submittedBefore: before / 1_000 },
      { limit: PAGE, cursor },
    );
    for (const { submittedAt } of page.jobs) oldest = Math.min(oldest, submittedAt * 1_000);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return oldest;
}
