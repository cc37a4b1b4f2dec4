/** Images that are run again by a retry: among several jobs they count in their newest run alone. */
import { folderOf, hourBounds, hourOf, rowsOfJob, scopeOf, type CountScope } from './count-rows.js';
import { negated, SumsByHour, type HourRow, type SumRow } from './count-sum.js';
import type { Job, RetriedRun } from './job.js';
import { taskId } from './job-records.js';
import { conditions } from './job-reads.js';
import { inSteps, ROWS_PER_STEP, type Numbered, type Steps } from './steps.js';
import type { Statements } from './statements.js';

/** Which images of a job are run again. */
export type RunAgain = RetriedRun['images'];

type Run = Pick<Job, 'jobId' | 'retryOf' | 'imageCount' | 'finishedImages' | 'failedImages'>;

/**
 * Jobs of which images are run again by others of these jobs, by id. `jobs`: the first submitted first. A run of all
 * images counts once it has ended with all of them: until then the results count that are there. Of several runs of the
 * same job the one with the most images counts, of equal ones the newest.
 */
export function runAgain(jobs: readonly Run[]): ReadonlyMap<string, RunAgain> {
  const known = new Map(jobs.map((job) => [job.jobId, job]));
  const retries = retriesOf(jobs);
  const again = new Map<string, RunAgain>();
  const leaveOut = (run: Run) => {
    again.set(run.jobId, 'all');
    for (const retry of retries.get(run.jobId) ?? []) leaveOut(retry);
  };
  for (const [jobId, runs] of retries) {
    const job = known.get(jobId);
    const counted = countedRun(runs, job);
    for (const run of runs) if (run !== counted) leaveOut(run);
    if (job === undefined || counted === null || again.get(jobId) === 'all') continue;
    again.set(jobId, counted.imageCount === job.imageCount ? 'all' : 'failed');
  }
  return again;
}

/** Jobs by the one that they run again. */
function retriesOf(jobs: readonly Run[]): ReadonlyMap<string, Run[]> {
  const retries = new Map<string, Run[]>();
  for (const job of jobs) {
    if (job.retryOf === null) continue;
    const runs = retries.get(job.retryOf) ?? [];
    retries.set(job.retryOf, runs);
    runs.push(job);
  }
  return retries;
}

/** The run that counts, of those of a job; undefined: it is none of the jobs. Null: its own results count. */
function countedRun(runs: readonly Run[], job: Run | undefined): Run | null {
  let counted: Run | null = null;
  for (const run of runs) {
    const losesNone = job === undefined || run.imageCount === withoutResult(job);
    if (!losesNone && run.finishedImages < run.imageCount) continue;
    if (counted === null || run.imageCount >= counted.imageCount) counted = run;
  }
  return counted;
}

const withoutResult = ({ imageCount, finishedImages, failedImages }: Run): number =>
  imageCount - finishedImages + failedImages;

/** Images of a job that are run again, and the sums that take back what counts them. */
export interface TakenBack {
  images: RunAgain;
  sums: HourRow[];
}

interface StoredRun extends Run, Numbered {}

const RUN_COLUMNS = `number, job_id AS jobId, retry_of AS retryOf, image_count AS imageCount,
  finished AS finishedImages, finished - succeeded AS failedImages`;
/** Numbers of retries, and of the jobs that they run again. */
const RUNS = `SELECT number FROM jobs WHERE retry_of IS NOT NULL
  UNION SELECT first.number FROM jobs AS retry CROSS JOIN jobs AS first ON first.job_id = retry.retry_of
  WHERE retry.retry_of IS NOT NULL`;
/** Numbers of a job, of the one that it runs again, and of the retries of both. */
const RELATED = `SELECT related.number FROM jobs AS own CROSS JOIN jobs AS related
  ON related.job_id IN (own.job_id, own.retry_of) OR related.retry_of IN (own.job_id, own.retry_of)
  WHERE own.number = ?`;

interface StoredRunAgain {
  number: number;
  images: RunAgain;
}

/** Jobs of the scope of which images are run again by others of it. A retry is of no watch. */
export function runsAgain(statements: Statements, { jobs }: CountScope): StoredRunAgain[] {
  if (typeof jobs === 'number' || jobs.watch !== undefined) return [];
  const { from, where, values } = conditions(jobs, true);
  const listed = [...where, `job IN (${RUNS})`].join(' AND ');
  return readRuns(statements, `${from} WHERE ${listed}`, values);
}

/** The same, by number. */
export function* takenBackIn(
  statements: Statements,
  scope: CountScope,
): Steps<ReadonlyMap<number, TakenBack>> {
  const taken = new Map<number, TakenBack>();
  const [first, end] = hourBounds(scope);
  for (const { number, images } of runsAgain(statements, scope)) {
    const sums = yield* sumsOf(statements, number, images);
    taken.set(number, { images, sums: sums.filter(({ hour }) => hour >= first && hour < end) });
  }
  return taken;
}

/** Like `takenBackIn`, of a job among those that are counted with it when it is removed. */
export function* takenBackOf(statements: Statements, jobNumber: number): Steps<TakenBack | null> {
  const scope = scopeOf(statements, jobNumber);
  if (scope?.watch !== '') return null;
  const runs = readRuns(
    statements,
    `jobs CROSS JOIN job_listings ON job = number
     WHERE coalesce(key_id, '') = ? AND marked_tags = ? AND number IN (${RELATED})`,
    [scope.owner, scope.tags, jobNumber],
  );
  const own = runs.find(({ number }) => number === jobNumber);
  if (own === undefined) return null;
  return { images: own.images, sums: yield* sumsOf(statements, jobNumber, own.images) };
}

function readRuns(
  statements: Statements,
  from: string,
  values: (string | number)[],
): StoredRunAgain[] {
  const sql = `SELECT ${RUN_COLUMNS} FROM ${from} ORDER BY number`;
  const runs = statements.all(sql, ...values) as StoredRun[];
  const again = runAgain(runs);
  return runs.flatMap(({ number, jobId }) => {
    const images = again.get(jobId);
    return images === undefined ? [] : [{ number, images }];
  });
}

function* sumsOf(statements: Statements, jobNumber: number, images: RunAgain): Steps<HourRow[]> {
  const sums = new SumsByHour();
  if (images === 'all') {
    yield* rowsOfJob(statements, jobNumber, ({ folder, hour, sum }) => {
      sums.of(folder, hour).merge(negated(JSON.parse(sum) as SumRow));
    });
  } else {
    const end = taskId(jobNumber + 1, 0);
    const read = (after: number) => statements.all(FAILED, after, end) as FailedRow[];
    yield* inSteps(taskId(jobNumber, 0) - 1, read, ({ path, time, source }) => {
      const sum = { images: -1, failed: -1, empty: 0, classes: {}, sources: { [source]: -1 } };
      sums.of(folderOf({ path }), hourOf(time)).merge(sum);
    });
  }
  return sums.rows();
}

interface FailedRow extends Numbered {
  path: string;
  time: string | null;
  source: string;
}

const FAILED = `SELECT task AS number, job_images.path, taken AS time, coalesce(taken_from, 'none') AS source
  FROM image_facts INDEXED BY failed_images CROSS JOIN job_images USING (task)
  WHERE failed AND task > ? AND task < ? ORDER BY task LIMIT ${ROWS_PER_STEP}`;
