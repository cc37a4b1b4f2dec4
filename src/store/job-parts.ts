/** Images of several jobs that are read together: most jobs of a watch have few. */
import type { JobSettings } from './job.js';
import { MAX_IMAGES, taskId } from './job-records.js';

export interface AskedJobRow {
  number: number;
  keyId: string | null;
  imageCount: number;
  /** Images with a result. */
  succeeded: number;
  settings: Pick<JobSettings, 'options' | 'scoreFloor'>;
  /** True: its failed images count in a retry. */
  isRetried?: boolean;
}

/** Images of a job: the one with the index `from`, and those after it before `until`. */
export interface Part {
  job: AskedJobRow;
  from: number;
  until: number;
}

/** So many images or jobs are read between two other calls: they take a few milliseconds. */
const IMAGES_PER_STEP = 500;
const JOBS_PER_STEP = 100;

/** All images of the jobs. Null: of one that is left out. Yields an empty list where only such jobs were seen. */
export function* partsOf(jobs: Iterable<AskedJobRow | null>): Generator<Part[], void> {
  let parts: Part[] = [];
  let images = 0;
  let seen = 0;
  for (const job of jobs) {
    seen += 1;
    for (let from = 0; job !== null && from < job.imageCount; from += IMAGES_PER_STEP) {
      const until = Math.min(from + IMAGES_PER_STEP, job.imageCount);
      parts.push({ job, from, until });
      images += until - from;
      if (images < IMAGES_PER_STEP) continue;
      yield parts;
      [parts, images, seen] = [[], 0, 0];
    }
    if (seen < JOBS_PER_STEP) continue;
    yield parts;
    [parts, images, seen] = [[], 0, 0];
  }
  yield parts;
}

/** The rows of a table with a row per image that are of the parts, in their order; takes the text of `rangesOf`. */
export const inParts = (table: string): string =>
  `json_each(?) AS part CROSS JOIN ${table} ON task >= part.value ->> 0 AND task < part.value ->> 1`;

export function rangesOf(parts: readonly Part[]): string {
  const ranges = parts.map(({ job: { number }, from, until }) => [
    taskId(number, from),
    taskId(number, until),
  ]);
  return JSON.stringify(ranges);
}

export const jobsOf = (parts: readonly Part[]): ReadonlyMap<number, AskedJobRow> =>
  new Map(parts.map(({ job }) => [job.number, job]));

export const jobNumberOf = (task: number): number => Math.floor(task / MAX_IMAGES);
