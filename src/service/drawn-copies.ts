/** Drawn copies live as long as the jobs that name them. */
import type { Annotator } from '../annotate/annotate.js';
import type { Logger } from '../base/logger-port.js';
import type { JobService } from '../jobs/job-service.js';

const HOUR_MS = 3_600_000;
const PAGE = 500;

/** Removes outlived copies once per hour. Returns how to stop. */
export function pruneDrawnCopies(
  annotator: Annotator,
  jobs: JobService,
  ttlHours: number,
  logger: Logger,
) {
  const prune = async () => {
    const before = Date.now() - ttlHours * HOUR_MS;
    await annotator.prune(await oldestKeptJob(jobs, before));
  };
  const timer = setInterval(() => {
    prune().catch((error: unknown) => {
      logger.warn({ error: String(error) }, 'old drawn copies cannot be removed');
    });
  }, HOUR_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

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
