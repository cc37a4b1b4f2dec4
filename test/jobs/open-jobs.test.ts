import { expect, test } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { FakeDetector } from '../support/fake-detector.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf } from './job-folder.js';
import { until } from '../support/eventually.js';

test('a job runs to its end with one entry per image, events and counts', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  jobs.detector.answer = ({ path }) => (path === 'p1.jpg' ? 'invalid_image' : 'ok');
  const { service } = jobs;
  const spec = specOf({ imagePaths: imagesNamed('p', 3), metadata: '{"a":[1,"__proto__"]}' });
  const { job, replayed } = await service.submit(spec);

  expect(replayed).toBe(false);
  expect(job).toMatchObject({
    status: 'pending',
    imageCount: 3,
    startedAt: null,
    workerId: '',
    spec: { jobType: spec.jobType, options: spec.options, metadata: spec.metadata },
  });
  expect(job.jobId).toMatch(/^job_[\w-]{24}$/);
  expect(await ended(service, job.jobId)).toMatchObject({
    status: 'completed',
    finishedImages: 3,
    workerId: 'fake-1',
    error: null,
    spec: { metadata: '{"a":[1,"__proto__"]}' },
  });
  const images = await service.images(job.jobId);
  expect(images.map(({ index, path, outcome }) => [index, path, outcome?.status])).toEqual([
    [0, 'p0.jpg', 'ok'],
    [1, 'p1.jpg', 'error'],
    [2, 'p2.jpg', 'ok'],
  ]);
  expect(images[1]?.outcome).toMatchObject({ error: { code: 'invalid_image', status: 422 } });
  await until(() => jobs.events.at(-1)?.event === 'job_completed', 'terminal event');
  const stored = jobs.events.filter(({ event }) => event !== 'job_progress');
  expect(stored.map(({ event, seq, status, progress }) => [event, seq, status, progress])).toEqual([
    ['job_submitted', 1, 'pending', 0],
    ['job_started', 2, 'running', 0],
    ['job_completed', 3, 'completed', 1],
  ]);
  expect(await service.eventsAfter(0, 10)).toEqual({ events: stored, gap: false });
  expect(await service.counts()).toEqual({ pending: 0, running: 0, queuedImages: 0 });
});

test('a job whose images all fail ends failed, with the error of its image or one for all', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  jobs.detector.answer = () => 'image_not_found';
  const one = await jobs.service.submit(specOf());
  const two = await jobs.service.submit(specOf({ imagePaths: ['a.jpg', 'b.jpg'] }));

  expect(await ended(jobs.service, one.job.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'image_not_found', detail: 'fake image_not_found' },
  });
  expect(await ended(jobs.service, two.job.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'all_images_failed', detail: expect.stringContaining('None of the 2 images') },
  });
  expect(jobs.detector.requests).toHaveLength(3);
});

test('a passing error of the detector is retried twice, then stored as the entry', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  let calls = 0;
  jobs.detector.answer = ({ path }) => {
    if (path === 'never.jpg') return 'cluster_unavailable';
    calls += 1;
    return calls <= 2 ? 'shutting_down' : 'ok';
  };
  const late = await jobs.service.submit(specOf({ imagePaths: ['late.jpg'] }));
  expect(await ended(jobs.service, late.job.jobId)).toMatchObject({ status: 'completed' });
  expect(calls).toBe(3);

  const never = await jobs.service.submit(specOf({ imagePaths: ['never.jpg'] }));
  expect(await ended(jobs.service, never.job.jobId)).toMatchObject({
    status: 'failed',
    error: { code: 'cluster_unavailable' },
  });
  expect(jobs.detector.paths.filter((path) => path === 'never.jpg')).toHaveLength(3);
});

test('an image that the process has no means to read waits and is tried again', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, { imageBackoffMs: 1, volumePauseMs: 10 });
  let calls = 0;
  jobs.detector.answer = () => {
    calls += 1;
    return calls <= 10 ? 'overloaded' : 'ok';
  };
  const { job } = await jobs.service.submit(specOf({ imagePaths: ['a.jpg'] }));
  expect(await ended(jobs.service, job.jobId)).toMatchObject({ status: 'completed' });
  expect(calls).toBe(11);
});

test('images whose GPU was lost are left for the next process', async () => {
  using folder = new TemporaryFolder();
  const jobs = await openTestJobs(folder, { imageBackoffMs: 200 });
  jobs.detector.answer = ({ path }) => (path === 'p0.jpg' ? 'ok' : 'gpu_lost');
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 6) }));
  await until(() => jobs.detector.requests.length === 6, 'the loss');
  await using next = await jobs.reopen();
  expect(await ended(next.service, job.jobId)).toMatchObject({ status: 'completed' });
  const images = await next.service.images(job.jobId);
  expect(images.map(({ outcome }) => outcome?.status)).toEqual(images.map(() => 'ok'));
  expect(next.detector.requests.length).toBeGreaterThanOrEqual(5);
});

test('the window limits the images in flight, and 2,000 images stay in order', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  const paths = imagesNamed('p', 2000);
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths }));
  await ended(jobs.service, job.jobId);

  expect(jobs.detector.peak).toBeLessThanOrEqual(8);
  expect(jobs.detector.paths).toEqual(paths);
  expect((await jobs.service.images(job.jobId)).map(({ path }) => path)).toEqual(paths);
  const [first] = jobs.detector.requests;
  expect(first?.id).toBe(2 ** 20);
});

test('entries name their drawn copies; a failed drawing does not affect the entry', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {
    annotate: (path) =>
      path === 'b.jpg'
        ? Promise.reject(new Error('no'))
        : Promise.resolve(`/drawn/${String(path)}`),
  });
  const spec = specOf({ imagePaths: ['a.jpg', 'b.jpg'], annotate: true });
  const { job } = await jobs.service.submit(spec);
  await ended(jobs.service, job.jobId);
  const [drawn, plain] = await jobs.service.images(job.jobId);
  expect(drawn?.outcome).toMatchObject({ status: 'ok', annotatedPath: '/drawn/a.jpg' });
  expect(plain?.outcome).toMatchObject({ status: 'ok' });
  expect(plain?.outcome).not.toHaveProperty('annotatedPath');
});

test('submits are refused and health fails while less than the reserve is free', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, { reserveBytes: Number.MAX_SAFE_INTEGER });
  const refusal = { code: 'storage_unavailable' };
  await expect(jobs.service.submit(specOf())).rejects.toMatchObject(refusal);
  expect(await jobs.health()).toMatchObject(refusal);
});

test('progress is reported at once, then at most once per interval, and not after the end', async () => {
  using folder = new TemporaryFolder();
  // From the start: the runner keeps the window it has read for a while.
  const detector = new FakeDetector();
  detector.delayMs = 10;
  detector.window = 1;
  await using jobs = await openTestJobs(folder, { progressIntervalMs: 100 }, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 40) }));
  await ended(jobs.service, job.jobId);
  const progress = jobs.events.filter(({ event }) => event === 'job_progress');
  expect(progress.length).toBeGreaterThanOrEqual(3);
  expect(progress.length).toBeLessThanOrEqual(20);
  expect(progress.map((event) => event.progress)).toEqual(
    progress.map((event) => event.progress).sort((a, b) => a - b),
  );
  for (const event of progress) expect(event).toMatchObject({ status: 'running', seq: 2 });
});

test('stop lets images in hand finish; the others run after the next start', async () => {
  using folder = new TemporaryFolder();
  const jobs = await openTestJobs(folder);
  jobs.detector.delayMs = 100;
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 20) }));
  await until(() => jobs.detector.inFlight === 8, 'first images');
  await jobs.stop(5_000);
  expect(jobs.detector.requests).toHaveLength(8);
  expect(jobs.detector.aborted).toBe(0);
  await expect(jobs.service.submit(specOf())).rejects.toMatchObject({ code: 'shutting_down' });

  await using next = await openTestJobs(folder);
  expect(await ended(next.service, job.jobId)).toMatchObject({ status: 'completed' });
  expect(next.detector.paths).toEqual(imagesNamed('p', 20).slice(8));
});

test('stop gives up at its deadline even when the detector hangs', async () => {
  using folder = new TemporaryFolder();
  const jobs = await openTestJobs(folder);
  jobs.detector.answer = () => 'hang';
  jobs.detector.detect = () => new Promise(() => undefined);
  const { job } = await jobs.service.submit(specOf());
  await jobs.stop(100);
  await using next = await openTestJobs(folder);
  expect(await ended(next.service, job.jobId)).toMatchObject({ status: 'completed' });
});

test('a listener that throws affects neither the others nor the job', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  jobs.service.onEvent(() => {
    throw new Error('bad listener');
  });
  const after: string[] = [];
  const stop = jobs.service.onEvent(({ event }) => after.push(event));
  const { job } = await jobs.service.submit(specOf());
  await ended(jobs.service, job.jobId);
  expect(after).toContain('job_completed');
  stop();
  await jobs.service.submit(specOf());
  expect(after.filter((event) => event === 'job_submitted')).toHaveLength(1);
});

test('an unexpected failure of the detector is an entry without inner text', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.detect = () => Promise.reject(new Error('/secret/path exploded'));
  await using jobs = await openTestJobs(folder, {}, detector);
  const { job } = await jobs.service.submit(specOf());
  const { error } = await ended(jobs.service, job.jobId);
  expect(error).toMatchObject({ code: 'internal_error' });
  expect(JSON.stringify(error)).not.toContain('secret');
});

test('calls after the stop reject with a known error code', async () => {
  using folder = new TemporaryFolder();
  const jobs = await openTestJobs(folder);
  await jobs.stop(0);
  const calls = [
    jobs.service.get('job_x', null),
    jobs.service.cancel('job_x', null),
    jobs.service.list({}, { limit: 1, cursor: null }),
    jobs.service.eventsAfter(0, 1),
    jobs.store.webhooks.due(0, { limit: 1, perHost: 1, without: [] }),
  ];
  for (const call of calls) await expect(call).rejects.toBeInstanceOf(LatticeError);
});
