import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resultText } from '../../../../src/http/routes/jobs/result-record.js';
import { webhookRecord } from '../../../../src/http/routes/jobs/result-record.js';
import type { ImageEntry } from '../../../../src/jobs/job.js';
import { endedJob, pagesOf } from '../../../support/ended-job.js';
import { okOutcome } from '../../../support/outcomes.js';

const hide = (text: string): string => text.replaceAll('/srv/', '');

const manyImages = (count: number): ImageEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    path: `folder/${index}.jpg`,
    outcome: index % 10 === 0 ? null : okOutcome(['car', 'bus']),
  }));

const recordOf = (count: number) =>
  webhookRecord(endedJob(count), pagesOf(manyImages(count), 500), hide);

test.each([2, 500])('a webhook contains %i images as the result does', async (count) => {
  let text = '';
  const images = pagesOf(manyImages(count), 100);
  for await (const piece of resultText(endedJob(count), images, hide)) text += piece;
  expect(JSON.stringify(await recordOf(count))).toBe(text);
});

test('a webhook of very many images contains their totals and a link to the result', async () => {
  const { result, ...record } = await recordOf(5_000);
  expect(record).toMatchObject({ job_id: 'job_1', result_url: '/v1/jobs/job_1/result' });
  expect(result).toMatchObject({ car_count: 4_500, succeeded: 4_500, failed: 500 });
  expect(result).not.toHaveProperty('images');
});

test('a webhook stays below 1 MiB for any number of images', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4_000 }), async (count) => {
      expect(JSON.stringify(await recordOf(count)).length).toBeLessThan(2 ** 20);
    }),
    { numRuns: 20 },
  );
});
