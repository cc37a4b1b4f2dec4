/** Failed images: counted in everything that is told of a job, and run again as a new one. */
import { expect, test } from 'vitest';
import { FakeDetector } from '../support/fake-detector.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf } from './job-folder.js';
import { until } from '../support/eventually.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';

const paths = imagesNamed('p', 5);
/** The second and the last image. */
const BAD = ['p1.jpg', 'p4.jpg'];

function failing(): FakeDetector {
  const detector = new FakeDetector();
  detector.answer = ({ path }) => (BAD.includes(path) ? 'invalid_image' : 'ok');
  return detector;
}

test('failed images are counted in the job, its list, its events, and after a restart', async () => {
  using folder = new TemporaryFolder();
  const detector = failing();
  detector.window = 1;
  detector.delayMs = 60;
  await using jobs = await openTestJobs(folder, { progressIntervalMs: 0 }, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths }));
  expect(job).toMatchObject({ failedImages: 0, retryOf: null });
  expect(await ended(jobs.service, job.jobId)).toMatchObject({
    status: 'completed',
    finishedImages: 5,
    failedImages: 2,
  });
  const told = jobs.events.map(({ event, failedImages }) => [event, failedImages]);
  expect(told[0]).toEqual(['job_submitted', 0]);
  expect(told).toContainEqual(['job_progress', 1]);
  expect(told.at(-1)).toEqual(['job_completed', 2]);
  const again = await jobs.reopen();
  try {
    const { jobs: listed } = await again.service.list({}, { limit: 1, cursor: null });
    expect(listed).toMatchObject([{ finishedImages: 5, failedImages: 2 }]);
    const { events } = await again.service.eventsAfter(0, 10);
    expect(events.at(-1)).toMatchObject({ event: 'job_completed', failedImages: 2 });
  } finally {
    await again.stop(0);
  }
});

test('a retry runs the failed images alone, in their order and with the same settings', async () => {
  using folder = new TemporaryFolder();
  const detector = failing();
  await using jobs = await openTestJobs(folder, {}, detector);
  const { imagePaths, ...settings } = specOf({
    imagePaths: paths,
    options: {
      ...DEFAULT_PARAMETERS,
      modelName: 'own.pt',
      confidence: 0.3,
      iou: 0.6,
      maxDetections: 7,
      classes: ['bus'],
    },
    priority: 4,
    callbackUrl: 'http://127.0.0.1/hook',
    metadata: '{"gate":1}',
    keyId: 'north',
  });
  const { job } = await jobs.service.submit({ imagePaths, ...settings });
  await ended(jobs.service, job.jobId);
  detector.answer = () => 'ok';
  const before = detector.requests.length;

  const { job: retry, replayed } = await jobs.service.retry(job.jobId, 'north', {
    images: 'failed',
  });
  expect(replayed).toBe(false);
  expect(retry).toMatchObject({ retryOf: job.jobId, imageCount: 2, failedImages: 0 });
  expect(retry.spec).toEqual({ ...settings, scoreFloor: 1 });
  expect(await ended(jobs.service, retry.jobId)).toMatchObject({
    status: 'completed',
    failedImages: 0,
    retryOf: job.jobId,
  });
  expect(detector.paths.slice(before).sort()).toEqual(BAD);
  expect(await jobs.service.images(retry.jobId)).toMatchObject(
    BAD.map((path, index) => ({ index, path, outcome: { status: 'ok' } })),
  );
  expect(await jobs.store.webhooks.forJob(retry.jobId)).toHaveLength(1);
  expect(await jobs.service.get(job.jobId, null)).toMatchObject({ failedImages: 2 });
  await expect(
    jobs.service.retry(retry.jobId, 'north', { images: 'failed' }),
  ).rejects.toMatchObject({
    code: 'nothing_to_retry',
  });
});

test('a retry of a cancelled job runs what had no turn, too', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.answer = ({ path }) =>
    path === 'p0.jpg' ? 'ok' : path === 'p1.jpg' ? 'invalid_image' : 'hang';
  await using jobs = await openTestJobs(folder, {}, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths }));
  const get = () => jobs.service.get(job.jobId, null);
  await until(async () => (await get()).finishedImages === 2, 'two entries');
  await expect(jobs.service.retry(job.jobId, null, { images: 'failed' })).rejects.toMatchObject({
    code: 'job_not_finished',
  });
  await jobs.service.cancel(job.jobId, null);
  expect(await get()).toMatchObject({ finishedImages: 2, failedImages: 1 });
  detector.answer = () => 'ok';
  const { job: retry } = await jobs.service.retry(job.jobId, null, { images: 'failed' });
  await ended(jobs.service, retry.jobId);
  const images = await jobs.service.images(retry.jobId);
  expect(images.map(({ path }) => path)).toEqual(paths.slice(1));
});

test('a retry is its owner’s, made once per key, and refused by a full queue', async () => {
  using folder = new TemporaryFolder();
  const detector = failing();
  await using jobs = await openTestJobs(folder, { maxQueuedJobs: 1 }, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths, keyId: 'a' }));
  await ended(jobs.service, job.jobId);
  const missing = { code: 'job_not_found' };
  await expect(jobs.service.retry(job.jobId, 'b', { images: 'failed' })).rejects.toMatchObject(
    missing,
  );
  await expect(jobs.service.retry('job_none', null, { images: 'failed' })).rejects.toMatchObject(
    missing,
  );

  detector.answer = () => 'hang';
  const key = { key: 'k', fingerprint: 'f' };
  const [first, second] = await Promise.all([
    jobs.service.retry(job.jobId, 'a', { images: 'failed' }, key),
    jobs.service.retry(job.jobId, 'a', { images: 'failed' }, key),
  ]);
  expect([first.replayed, second.replayed]).toEqual([false, true]);
  expect(second.job.jobId).toBe(first.job.jobId);
  await expect(
    jobs.service.retry(job.jobId, 'a', { images: 'failed' }, { key: 'k', fingerprint: 'other' }),
  ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  await expect(jobs.service.retry(job.jobId, 'a', { images: 'failed' })).rejects.toMatchObject({
    code: 'queue_full',
  });
  expect((await jobs.service.counts()).queuedImages).toBe(2);
});

test('a job can be run again with all its images', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, failing());
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths }));
  await ended(jobs.service, job.jobId);
  const { job: again } = await jobs.service.retry(job.jobId, null, { images: 'all' });
  expect(again).toMatchObject({ retryOf: job.jobId, imageCount: 5 });
  const entries = await jobs.service.images(again.jobId);
  expect(entries.map(({ path }) => path)).toEqual(paths);
  const other = { images: 'all', modelName: 'other.pt' } as const;
  const { job: onOther } = await jobs.service.retry(job.jobId, null, other);
  expect(onOther.spec.options).toEqual({ ...again.spec.options, modelName: 'other.pt' });
});
