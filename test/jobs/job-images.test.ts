/** Pages of a job's images, filters and counts: as the store keeps them, while a job runs and after it was removed. */
import { expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import type { ImageFilter } from '../../src/api/job-values.js';
import type { Job } from '../../src/store/job.js';
import type { JobService } from '../../src/jobs/job-service.js';
import { FakeDetector } from '../support/fake-detector.js';
import { okOutcome } from '../support/outcomes.js';
import { openStore } from '../../src/store/service-store.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf } from './job-folder.js';
import { until } from '../support/eventually.js';

/**
 * A detector that answers by the image's name: `n` without boxes, `x` an error, `b` a bus and an unsure car, else a
 * car.
 */
function detector(): FakeDetector {
  const fake = new FakeDetector();
  fake.answer = ({ path }) => (path.startsWith('x') ? 'invalid_image' : 'ok');
  const detect = fake.detect.bind(fake);
  fake.detect = async (request) => {
    const result = await detect(request);
    if (request.path.startsWith('n')) return { ...result, detections: [] };
    if (!request.path.startsWith('b')) return result;
    return {
      ...result,
      detections: [
        { box: [0, 0, 9, 9], confidence: 0.95, class: 'bus' },
        { box: [5, 5, 9, 9], confidence: 0.31, class: 'car' },
      ],
    };
  };
  return fake;
}

const imagePaths = ['c0.jpg', 'n1.jpg', 'x2.jpg', 'b3.jpg', 'c4.jpg', 'b5.jpg'];

async function indices(service: JobService, job: Job, filter: ImageFilter, offset = 0, limit = 9) {
  const { entries, matching } = await service.filteredImages(job, filter, { offset, limit });
  return { indices: entries.map(({ index }) => index), matching };
}

test('images are found by outcome, class and confidence, from any place on', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, detector());
  const { service } = jobs;
  const others = await service.submit(specOf({ imagePaths }));
  const { job } = await service.submit(specOf({ imagePaths }));
  await Promise.all([ended(service, others.job.jobId), ended(service, job.jobId)]);
  const found = (filter: ImageFilter, offset?: number, limit?: number) =>
    indices(service, job, filter, offset, limit);
  expect(await found({})).toEqual({ indices: [0, 1, 2, 3, 4, 5], matching: 6 });
  expect(await found({}, 4, 1)).toEqual({ indices: [4], matching: 6 });
  expect(await found({ outcome: 'found' })).toEqual({ indices: [0, 3, 4, 5], matching: 4 });
  expect(await found({ outcome: 'found' }, 2, 1)).toEqual({ indices: [4], matching: 4 });
  expect(await found({ outcome: 'empty' })).toEqual({ indices: [1], matching: 1 });
  expect(await found({ outcome: 'failed' })).toEqual({ indices: [2], matching: 1 });
  expect(await found({ outcome: 'pending' })).toEqual({ indices: [], matching: 0 });
  expect(await found({ classes: ['bus'] })).toEqual({ indices: [3, 5], matching: 2 });
  expect(await found({ classes: ['us'] })).toEqual({ indices: [], matching: 0 });
  expect(await found({ confidenceBelow: 0.5 })).toEqual({ indices: [3, 5], matching: 2 });
  // The bus of these images is sure, the car is not: one box must fit both.
  expect(await found({ classes: ['bus'], confidenceBelow: 0.5 })).toMatchObject({ matching: 0 });
  expect(await found({ classes: ['bus', 'car'], confidenceBelow: 0.5 })).toMatchObject({
    indices: [3, 5],
  });
  expect(await found({ classes: ['bus', 'car'] })).toMatchObject({ indices: [0, 3, 4, 5] });
  expect(await found({ outcome: 'empty', classes: ['bus'] })).toMatchObject({ matching: 0 });
  const { entries } = await service.filteredImages(
    job,
    { classes: ['bus'] },
    { offset: 1, limit: 1 },
  );
  expect(entries).toMatchObject([
    { index: 5, path: 'b5.jpg', outcome: { status: 'ok', detections: [{ class: 'bus' }, {}] } },
  ]);
  expect(await service.tally(job)).toEqual({
    found: 4,
    empty: 1,
    failed: 1,
    boxes: [
      { class: 'bus', step: 19, boxes: 2 },
      { class: 'car', step: 6, boxes: 2 },
      { class: 'car', step: 18, boxes: 2 },
    ],
    regions: [],
  });
});

test('images without an outcome are pending; once their job was cancelled they were not run', async () => {
  using folder = new TemporaryFolder();
  const hanging = detector();
  hanging.answer = ({ path }) => (path === 'c4.jpg' ? 'hang' : 'ok');
  hanging.window = 1;
  await using jobs = await openTestJobs(folder, { progressIntervalMs: 0 }, hanging);
  const { service } = jobs;
  const { job } = await service.submit(specOf({ imagePaths }));
  await until(
    async () => (await service.get(job.jobId, null)).finishedImages === 4,
    'four outcomes',
  );
  expect(await indices(service, job, { outcome: 'pending' })).toEqual({
    indices: [4, 5],
    matching: 2,
  });
  expect(await indices(service, job, { outcome: 'failed' })).toMatchObject({ matching: 0 });
  const cancelled = await service.cancel(job.jobId, null);
  expect(await indices(service, cancelled, { outcome: 'pending' })).toMatchObject({ matching: 0 });
  expect(await indices(service, cancelled, { outcome: 'failed' })).toMatchObject({ matching: 0 });
  expect(await indices(service, cancelled, { outcome: 'not_run' })).toEqual({
    indices: [4, 5],
    matching: 2,
  });
  const withBoxes = { outcome: 'not_run', classes: ['car'] } as const;
  expect(await indices(service, cancelled, withBoxes)).toMatchObject({ matching: 0 });
});

test('a page has no more boxes than fit: the next one begins where it ended', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  const spec = specOf({ imagePaths: imagesNamed('p', 40) });
  const submitted = { jobId: 'job_1', spec, submittedAt: 1, idempotency: null, admit: true };
  await store.submit(submitted);
  const started = (await store.start(1, 'worker-1', 2))!;
  const outcome = JSON.stringify(okOutcome(Array.from({ length: 200 }, () => 'car')));
  const outcomes = imagesNamed('p', 40).map((_, index) => ({ index, ok: true, outcome }));
  await store.record(1, started.fencingToken, outcomes, 'worker-1', 3);
  const images = { number: 1, imageCount: 40, without: 'not_run' as const };
  const page = await store.filteredImages(images, { classes: ['car'] }, 0, 40);
  expect(page.matching).toBe(40);
  expect(page.images.length).toBeLessThan(40);
  const next = await store.filteredImages(images, { classes: ['car'] }, page.images.length, 40);
  expect(next.images[0]?.index).toBe(page.images.length);
  await store.close();
});

test('an outcome that comes twice is counted once', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  const spec = specOf({ imagePaths: imagesNamed('p', 2) });
  await store.submit({ jobId: 'job_1', spec, submittedAt: 1, idempotency: null, admit: true });
  const { fencingToken } = (await store.start(1, 'worker-1', 2))!;
  const found = { ...okOutcome(['car', 'bus']), regionCounts: { gate: { car: 1 }, exit: {} } };
  const entry = { index: 0, ok: true, outcome: JSON.stringify(found) };
  for (let times = 0; times < 2; times++)
    await store.record(1, fencingToken, [entry], 'worker-1', 3);
  const rows = [
    { region: 'exit', class: '', boxes: 0 },
    { region: 'gate', class: '', boxes: 0 },
    { region: 'gate', class: 'car', boxes: 1 },
  ];
  expect(await store.tally(1)).toMatchObject({
    found: 1,
    boxes: [{ boxes: 1 }, { boxes: 1 }],
    regions: rows,
  });
  await store.fail(1, 4, new LatticeError('cancelled', 'Cancelled.').toProblem());
  while ((await store.sweep({ jobsBefore: Date.now(), eventsBefore: 0, keysBefore: 0 })).more);
  expect(await store.tally(1)).toMatchObject({ boxes: [], regions: [] });
  await store.close();
});

test('nothing of a job is left once its time is over', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, detector());
  const { job } = await jobs.service.submit(specOf({ imagePaths }));
  await ended(jobs.service, job.jobId);
  await jobs.stop(0);
  const store = await openStore(folder.path);
  const limits = { jobsBefore: Date.now(), eventsBefore: 0, keysBefore: 0 };
  while ((await store.sweep(limits)).more);
  expect(await store.tally(1)).toEqual({
    ...{ found: 0, empty: 0, failed: 0 },
    ...{ boxes: [], regions: [] },
  });
  await store.close();
});

test('jobs are counted by state, for the filter of a list', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, detector());
  const { service } = jobs;
  const ids = [];
  for (const path of ['c.jpg', 'n.jpg', 'x.jpg']) {
    const { job } = await service.submit(specOf({ imagePaths: [path], keyId: path.charAt(0) }));
    ids.push(job.jobId);
  }
  for (const id of ids) await ended(service, id);
  const none = { pending: 0, running: 0, completed: 0, failed: 0 };
  expect(await service.countByStatus({ status: ['failed'] })).toEqual({
    ...none,
    completed: 2,
    failed: 1,
  });
  expect(await service.countByStatus({ keyId: 'x' })).toEqual({ ...none, failed: 1 });
});
