/** Which images of jobs count where jobs run those of others again: each once, whatever was retried in which order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runAgain } from '../../src/store/retried-jobs.js';

interface TestRun {
  jobId: string;
  retryOf: string | null;
  imageCount: number;
  finishedImages: number;
  failedImages: number;
  /** True: the image has a result. */
  images: Map<string, boolean>;
}

/** A job of three images, and retries of it and of each other as the service makes them. */
function runsOf(steps: readonly { of: number; isAll: boolean; ok: boolean[] }[]): TestRun[] {
  const runs = [runOf('job_0', null, ['a', 'b', 'c'], [true, false, false])];
  for (const { of, isAll, ok } of steps) {
    const first = runs[of % runs.length]!;
    const paths = [...first.images].filter(([, hasResult]) => isAll || !hasResult);
    if (paths.length === 0) continue;
    const names = paths.map(([path]) => path);
    runs.push(runOf(`job_${runs.length}`, first.jobId, names, ok));
  }
  return runs;
}

function runOf(jobId: string, retryOf: string | null, paths: string[], ok: boolean[]): TestRun {
  const images = new Map(paths.map((path, at) => [path, ok[at] ?? false]));
  const failedImages = [...images.values()].filter((hasResult) => !hasResult).length;
  return {
    ...{ jobId, retryOf, images, failedImages },
    imageCount: images.size,
    finishedImages: images.size,
  };
}

function countedIn(runs: readonly TestRun[]): string[] {
  const again = runAgain(runs);
  return runs.flatMap(({ jobId, images }) =>
    [...images].flatMap(([path, hasResult]) => {
      const left = again.get(jobId);
      return left === 'all' || (left === 'failed' && !hasResult) ? [] : [`${path} ${hasResult}`];
    }),
  );
}

test('each image counts once', () => {
  const step = fc.record({
    of: fc.nat(9),
    isAll: fc.boolean(),
    ok: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const paths = countedIn(runsOf(steps)).map((text) => text.slice(0, 1));
      expect(paths.sort()).toEqual(['a', 'b', 'c']);
    }),
  );
});

test('the newest run counts; one of all images only when it has ended with all', () => {
  const failed = [false, true, false];
  const all = { of: 0, isAll: true, ok: failed };
  expect(countedIn(runsOf([{ of: 0, isAll: false, ok: [true, false] }])).sort()).toEqual([
    ...['a true', 'b true', 'c false'],
  ]);
  const runs = runsOf([all]);
  expect(countedIn(runs).sort()).toEqual(['a false', 'b true', 'c false']);
  runs[1]!.finishedImages = 2;
  expect(countedIn(runs).sort()).toEqual(['a true', 'b false', 'c false']);
  // Without the first job its retries stay, but for older ones of the same images.
  const [, older, newer] = runsOf([all, { ...all, ok: [true, true, true] }]);
  expect(countedIn([older!, newer!])).toEqual(['a true', 'b true', 'c true']);
});
