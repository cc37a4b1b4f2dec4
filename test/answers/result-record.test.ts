/** The result of a job as text in pieces, and the record that its webhook carries. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { resultText, webhookRecord, type JobResultBody } from '../../src/answers/result-record.js';
import type { ImageEntry, ImageOutcome, Job } from '../../src/store/job.js';
import { specOf } from '../jobs/job-folder.js';
import { endedJob, pagesOf } from '../support/ended-job.js';
import { okOutcome } from '../support/outcomes.js';

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

const job = (imageCount: number): fc.Arbitrary<Job> =>
  fc.record({ failed: fc.boolean(), metadata: fc.option(fc.jsonValue()) }).map((made) =>
    endedJob(imageCount, {
      spec: {
        ...specOf(),
        metadata: made.metadata === null ? null : JSON.stringify({ of: made.metadata }),
      },
      ...(made.failed
        ? { status: 'failed', error: new LatticeError('cancelled', 'In /srv/a.').toProblem() }
        : {}),
    }),
  );

async function joined(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

test('the pieces join to the record of the webhook, for any page size', async () => {
  await fc.assert(
    fc.asyncProperty(
      entries.chain((images) => fc.tuple(fc.constant(images), job(images.length))),
      fc.integer({ min: 1, max: 31 }),
      async ([images, of], size) => {
        const pieces = await joined(resultText(of, pagesOf(images, size), hide));
        expect(pieces).toHaveLength(Math.ceil(images.length / size));
        const record = await webhookRecord(of, pagesOf(images, size), hide);
        expect(pieces.join('')).toBe(record);
      },
    ),
  );
});

test('the time of a job has no digits of the binary form of its clock', async () => {
  const of = endedJob(2, { startedAt: 1764064800.123, completedAt: 1764064801.935 });
  const record = await webhookRecord(of, pagesOf(manyImages(2), 2), hide);
  expect(record).toContain('"processing_time_ms":1812,');
});

test.each([1, 2])('the webhook of %i images has the text of the metadata', async (count) => {
  const metadata = '{"ts_ns":1764064800123456789}';
  const of = endedJob(count, { spec: { ...specOf(), metadata } });
  const record = await webhookRecord(of, pagesOf(manyImages(count), 2), hide);
  expect(record).toContain(`"metadata":${metadata}}`);
});

test('a page is read when its piece is requested', async () => {
  let read = 0;
  async function* pages(): AsyncGenerator<ImageEntry[], void> {
    for (let index = 0; index < 9; index += 1) {
      read += 1;
      yield await Promise.resolve([{ index, path: 'a.jpg', outcome: null }]);
    }
  }
  const pieces = resultText(endedJob(9), pages(), hide);
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

const recordOf = (count: number) =>
  webhookRecord(endedJob(count), pagesOf(manyImages(count), 500), hide);

test.each([2, 500])('a webhook contains %i images as the result does', async (count) => {
  let text = '';
  const images = pagesOf(manyImages(count), 100);
  for await (const piece of resultText(endedJob(count), images, hide)) text += piece;
  expect(await recordOf(count)).toBe(text);
});

test('a webhook of very many images contains their totals and a link to the result', async () => {
  const { result, ...record } = JSON.parse(await recordOf(5_000)) as JobResultBody;
  expect(record).toMatchObject({ job_id: 'job_1', result_url: '/v1/jobs/job_1/result' });
  expect(result).toMatchObject({ car_count: 4_500, succeeded: 4_500, failed: 0, not_run: 500 });
  expect(result).not.toHaveProperty('images');
});

test('a webhook stays below 1 MiB for any number of images', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4_000 }), async (count) => {
      expect((await recordOf(count)).length).toBeLessThan(2 ** 20);
    }),
    { numRuns: 20 },
  );
});
