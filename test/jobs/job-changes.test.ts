import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import type { ImageEntry, ImageState, Job } from '../../src/store/job.js';
import { compareJobs, type CompareHow } from '../../src/jobs/job-changes.js';
import { endedJob } from '../support/ended-job.js';
import { okOutcome } from '../support/outcomes.js';

interface Image {
  path: string;
  /** Null: the image has failed. */
  boxes: number | null;
}

/** Jobs read in pages of any length. */
class PagedJobs {
  readonly #images = new Map<string, readonly Image[]>();
  readonly #pageLength: number;

  constructor(pageLength: number) {
    this.#pageLength = pageLength;
  }

  add(jobId: string, images: readonly Image[]): Job {
    this.#images.set(jobId, images);
    return endedJob(images.length, { jobId });
  }

  async *statePages(jobId: string): AsyncGenerator<ImageState[], void> {
    const images = this.#of(jobId);
    for (let from = 0; from < images.length; from += this.#pageLength) {
      const page = images.slice(from, from + this.#pageLength).map(({ path, boxes }, at) => ({
        ...{ index: from + at, path },
        outcome:
          boxes === null
            ? ('failed' as const)
            : boxes === 0
              ? ('empty' as const)
              : ('found' as const),
      }));
      yield await Promise.resolve(page);
    }
  }

  imagesAt({ jobId }: Job, indexes: readonly number[]): Promise<ImageEntry[]> {
    const images = this.#of(jobId);
    const entries = indexes.slice(0, this.#pageLength).map((index) => {
      const { path = '', boxes = null } = images[index] ?? {};
      return { index, path, outcome: okOutcome(Array.from({ length: boxes ?? 0 }, () => 'car')) };
    });
    return Promise.resolve(entries);
  }

  #of(jobId: string): readonly Image[] {
    const images = this.#images.get(jobId);
    if (images === undefined) throw new LatticeError('job_not_found', jobId);
    return images;
  }
}

const HOW: CompareHow = { confidenceChange: 1, nameOf: (path) => path, isOver: () => false };

const someImages = fc.array(
  fc.record({
    // Few names, so that jobs share some, lack some and have some twice.
    path: fc.integer({ min: 0, max: 14 }).map((number) => `${number}.jpg`),
    boxes: fc.option(fc.integer({ min: 0, max: 2 })),
  }),
  { maxLength: 20 },
);
const countOf = (images: readonly Image[]) => {
  const counts = new Map<string, number>();
  for (const { path } of images) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
};

test('whatever the orders and the pages, every image of both jobs is counted once', async () => {
  await fc.assert(
    fc.asyncProperty(
      someImages,
      someImages,
      fc.integer({ min: 1, max: 7 }),
      async (a, b, pages) => {
        const jobs = new PagedJobs(pages);
        const [first, second] = [jobs.add('a', a), jobs.add('b', b)];
        const there = await compareJobs(jobs, first, second, HOW);
        const [inA, inB] = [countOf(a), countOf(b)];
        const common = [...inA].reduce(
          (sum, [path, count]) => sum + Math.min(count, inB.get(path) ?? 0),
          0,
        );
        const { compared, failed, onlyHere, onlyThere, pending, unread } = there.images;
        expect([compared + failed, onlyHere, onlyThere, pending, unread]).toEqual([
          ...[common, a.length - common, b.length - common],
          ...[0, 0],
        ]);
        for (const { index, otherIndex } of there.changed) {
          expect(a[index]?.path).toBe(b[otherIndex]?.path);
        }
        const once = [inA, inB].every((counts) =>
          [...counts.values()].every((count) => count === 1),
        );
        if (!once) return;
        // If a job has an image twice, the other order may pair other ones.
        const back = await compareJobs(jobs, second, first, HOW);
        expect(back.images).toMatchObject({ compared, failed, onlyHere: onlyThere });
        const sums = there.classes.get('car');
        const { gained, lost, ...others } = back.classes.get('car') ?? {};
        expect({ ...others, gained: lost, lost: gained }).toEqual({ ...sums });
      },
    ),
    { numRuns: 300 },
  );
});

test('what is not reached in time counts as unread, and what was compared is there', async () => {
  const images = Array.from({ length: 10 }, (_, index) => ({ path: `${index}.jpg`, boxes: 1 }));
  const jobs = new PagedJobs(4);
  const first = jobs.add('a', images);
  const second = jobs.add('b', [...images.map((image) => ({ ...image, boxes: 2 }))]);
  const changesIn = async (questions: number) => {
    let asked = 0;
    const isOver = () => (asked += 1) > questions;
    const { images: counts, changed } = await compareJobs(jobs, first, second, { ...HOW, isOver });
    expect(changed).toHaveLength(counts.compared);
    return [counts.compared, counts.unread, counts.onlyHere, counts.onlyThere];
  };
  expect(await changesIn(0)).toEqual([0, 10, 0, 0]);
  expect(await changesIn(3)).toEqual([3, 7, 0, 0]);
  expect(await changesIn(100)).toEqual([10, 0, 0, 0]);
});
