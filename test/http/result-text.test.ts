import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatticeError } from '../../src/errors.js';
import { resultText } from '../../src/http/jobs/result-text.js';
import { viewResult } from '../../src/http/jobs/result-view.js';
import { viewForWebhook } from '../../src/http/jobs/webhook-record.js';
import type { ImageEntry, ImageOutcome, Job } from '../../src/jobs/job.js';
import { specOf } from '../jobs/job-folder.js';
import { okOutcome } from '../support/fake-jobs.js';

const hide = (text: string): string => text.replaceAll('/srv/', '');

const outcome: fc.Arbitrary<ImageOutcome | null> = fc.oneof(
  fc.constant(null),
  fc
    .array(fc.constantFrom('car', 'Car', 'bus', '7', '__proto__', 'constructor'), { maxLength: 6 })
    .map((classes) => okOutcome(classes)),
  fc.string().map((text) => ({
    status: 'error' as const,
    error: new LatticeError('invalid_image', `/srv/${text} is damaged.`).toProblem(),
  })),
);

const entries = fc
  .array(fc.tuple(fc.string({ unit: 'binary' }), outcome), { minLength: 2, maxLength: 30 })
  .map((all) => all.map(([path, of], index): ImageEntry => ({ index, path, outcome: of })));

function jobOf(imageCount: number, changes: Partial<Job> = {}): Job {
  return {
    jobId: 'job_1',
    spec: { ...specOf(), imagePaths: [] },
    status: 'completed',
    imageCount,
    finishedImages: imageCount,
    submittedAt: 1.25,
    startedAt: 2.5,
    completedAt: 4.75,
    workerId: 'worker-1',
    error: null,
    ...changes,
  };
}

const job = (imageCount: number): fc.Arbitrary<Job> =>
  fc.record({ failed: fc.boolean(), metadata: fc.option(fc.jsonValue()) }).map((made) =>
    jobOf(imageCount, {
      spec: {
        ...specOf(),
        imagePaths: [],
        metadata: made.metadata === null ? null : JSON.stringify({ of: made.metadata }),
      },
      ...(made.failed
        ? { status: 'failed', error: new LatticeError('cancelled', 'In /srv/a.').toProblem() }
        : {}),
    }),
  );

async function* pagesOf(images: ImageEntry[], size: number): AsyncGenerator<ImageEntry[], void> {
  for (let from = 0; from < images.length; from += size) {
    yield await Promise.resolve(images.slice(from, from + size));
  }
}

async function joined(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

test('pieces join to the text of the whole record, whatever the pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      entries.chain((images) => fc.tuple(fc.constant(images), job(images.length))),
      fc.integer({ min: 1, max: 31 }),
      async ([images, of], size) => {
        const pieces = await joined(resultText(of, pagesOf(images, size), hide));
        expect(pieces).toHaveLength(Math.ceil(images.length / size));
        expect(pieces.join('')).toBe(JSON.stringify(viewResult(of, images, hide)));
      },
    ),
  );
});

test('a page is read when its piece is asked for', async () => {
  let read = 0;
  async function* pages(): AsyncGenerator<ImageEntry[], void> {
    for (let index = 0; index < 9; index += 1) {
      read += 1;
      yield await Promise.resolve([{ index, path: 'a.jpg', outcome: null }]);
    }
  }
  const pieces = resultText(jobOf(9), pages(), hide);
  expect(read).toBe(0);
  await pieces.next();
  await pieces.next();
  expect(read).toBe(2);
});

const manyImages = (count: number): ImageEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    path: `folder/${index}.jpg`,
    outcome: index % 10 === 0 ? null : okOutcome(['car', 'bus']),
  }));

test.each([1, 2, 500])('a webhook carries %i images as the record has them', async (count) => {
  const images = manyImages(count);
  const record = await viewForWebhook(jobOf(count), pagesOf(images, 100), hide);
  expect(record).toEqual(viewResult(jobOf(count), images, hide));
});

test('a webhook of very many images carries what they come to, and where they are', async () => {
  const images = manyImages(5_000);
  const record = await viewForWebhook(jobOf(5_000), pagesOf(images, 100), hide);
  const whole = JSON.parse(JSON.stringify(viewResult(jobOf(5_000), images, hide))) as {
    result: { images?: unknown };
  };
  delete whole.result.images;
  expect(record).toEqual({ ...whole, result_url: '/v1/jobs/job_1/result' });
  expect(record.result).toMatchObject({ car_count: 4_500, succeeded: 4_500, failed: 500 });
});

test('a webhook stays below 1 MiB, whatever the images', async () => {
  const least = 1;
  const most = 4_000;
  const sizes = fc.integer({ min: least, max: most });
  await fc.assert(
    fc.asyncProperty(sizes, async (count) => {
      const record = await viewForWebhook(jobOf(count), pagesOf(manyImages(count), 500), hide);
      expect(JSON.stringify(record).length).toBeLessThan(2 ** 20);
    }),
    { numRuns: 20 },
  );
});
