import fc from 'fast-check';
import { expect, test } from 'vitest';
import { viewResult } from '../../../src/http/jobs/result-view.js';
import { WebhookRecords } from '../../../src/http/jobs/webhook-record.js';
import type { ImageEntry } from '../../../src/jobs/job.js';
import { endedJob, pagesOf } from '../../support/ended-job.js';
import { okOutcome } from '../../support/fake-jobs.js';

const hide = (text: string): string => text.replaceAll('/srv/', '');

const manyImages = (count: number): ImageEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    path: `folder/${index}.jpg`,
    outcome: index % 10 === 0 ? null : okOutcome(['car', 'bus']),
  }));

test.each([1, 2, 500])('a webhook carries %i images as the record has them', async (count) => {
  const images = manyImages(count);
  const record = await new WebhookRecords(hide).view(endedJob(count), pagesOf(images, 100));
  expect(record).toEqual(viewResult(endedJob(count), images, hide));
});

test('a webhook of very many images carries what they come to, and where they are', async () => {
  const images = manyImages(5_000);
  const record = await new WebhookRecords(hide).view(endedJob(5_000), pagesOf(images, 100));
  const whole = JSON.parse(JSON.stringify(viewResult(endedJob(5_000), images, hide))) as {
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
      const record = await new WebhookRecords(hide).view(
        endedJob(count),
        pagesOf(manyImages(count), 500),
      );
      expect(JSON.stringify(record).length).toBeLessThan(2 ** 20);
    }),
    { numRuns: 20 },
  );
});

/** Counts the pages that are read of it. */
function watched(images: ImageEntry[]) {
  const read = { pages: 0 };
  async function* pages(): AsyncGenerator<ImageEntry[], void> {
    for await (const page of pagesOf(images, 100)) {
      read.pages += 1;
      yield page;
    }
  }
  return { read, pages };
}

test('later attempts for a job of very many images read none of them', async () => {
  const { read, pages } = watched(manyImages(20_000));
  const records = new WebhookRecords(hide);
  const first = await records.view(endedJob(20_000), pages());
  expect(read.pages).toBe(200);
  for (let attempt = 1; attempt < 7; attempt += 1) {
    expect(await records.view(endedJob(20_000), pages())).toEqual(first);
  }
  expect(read.pages).toBe(200);
});

test('what was added up of one job is never told of another', async () => {
  const records = new WebhookRecords(hide);
  const of = async (jobId: string, count: number) =>
    records.view(endedJob(count, { jobId }), pagesOf(manyImages(count), 500));
  const first = await of('job_a', 4_000);
  const second = await of('job_b', 5_000);
  expect(first.result).toMatchObject({ succeeded: 3_600 });
  expect(second.result).toMatchObject({ succeeded: 4_500 });
  expect(await of('job_a', 4_000)).toEqual(first);
});

test('images that could not be read whole are read again', async () => {
  const { read, pages } = watched(manyImages(4_000));
  async function* breaking(): AsyncGenerator<ImageEntry[], void> {
    for await (const page of pages()) {
      if (read.pages === 39) throw new Error('the disk went away');
      yield page;
    }
  }
  const records = new WebhookRecords(hide);
  await expect(records.view(endedJob(4_000), breaking())).rejects.toThrow('the disk');
  const record = await records.view(endedJob(4_000), pages());
  expect(record.result).toMatchObject({ succeeded: 3_600, failed: 400 });
});
