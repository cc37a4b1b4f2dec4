import { expect, test } from 'vitest';
import type { ImageEntry } from '../../src/store/job.js';
import { FakeDetector } from '../support/fake-detector.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf } from './job-folder.js';
import { until } from '../support/eventually.js';

function hanging(): FakeDetector {
  const detector = new FakeDetector();
  detector.answer = () => 'hang';
  return detector;
}

test('a job is its owner’s: others are told that there is none', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, hanging());
  const { service } = jobs;
  const { job } = await service.submit(specOf({ keyId: 'a' }));
  const missing = { code: 'job_not_found' };
  await expect(service.get(job.jobId, 'b')).rejects.toMatchObject(missing);
  await expect(service.cancel(job.jobId, 'b')).rejects.toMatchObject(missing);
  await expect(service.get('job_none', null)).rejects.toMatchObject(missing);
  await expect(service.images('job_none')).rejects.toMatchObject(missing);
  expect(await service.get(job.jobId, 'a')).toMatchObject({ jobId: job.jobId });
  expect(await service.get(job.jobId, null)).toMatchObject({ jobId: job.jobId });
});

test('pages of a list join to all jobs, newest first; a cursor of other making is refused', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, hanging());
  const submitted: string[] = [];
  for (let count = 0; count < 7; count += 1) {
    submitted.push((await jobs.service.submit(specOf())).job.jobId);
  }
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await jobs.service.list({}, { limit: 3, cursor });
    seen.push(...page.jobs.map(({ jobId }) => jobId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(seen).toEqual(submitted.reverse());
  for (const wrong of ['', 'x', Buffer.from('before:0').toString('base64url'), 'YmVmb3JlOjM=']) {
    const list = jobs.service.list({}, { limit: 3, cursor: wrong });
    await expect(list).rejects.toMatchObject({ code: 'validation_failed' });
  }
});

test('the queue has an end: 429 with a time that follows the rate, repeats still answered', async () => {
  using folder = new TemporaryFolder();
  const detector = hanging();
  await using jobs = await openTestJobs(folder, { maxQueuedJobs: 5 }, detector);
  const spec = specOf({ imagePaths: imagesNamed('p', 100) });
  const key = { key: 'k', fingerprint: 'f' };
  const first = await jobs.service.submit(spec, key);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => jobs.service.submit(spec)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'queue_full', retryAfterS: 5 } });
  detector.imagesPerSecond = 4;
  await expect(jobs.service.submit(spec)).rejects.toMatchObject({ retryAfterS: 25 });
  const again = await jobs.service.submit(spec, key);
  expect(again).toMatchObject({ replayed: true, job: { jobId: first.job.jobId } });
  const other = jobs.service.submit(spec, { key: 'other', fingerprint: 'f' });
  await expect(other).rejects.toMatchObject({ code: 'queue_full' });

  await jobs.service.cancel(first.job.jobId, null);
  await jobs.service.submit(spec);
});

test('a repeat gives the first job, also while the first is on its way; another body is refused', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  const submit = (fingerprint: string) => jobs.service.submit(specOf(), { key: 'k', fingerprint });
  const [a, b] = await Promise.all([submit('f'), submit('f')]);
  expect([a.replayed, b.replayed]).toEqual([false, true]);
  expect(b.job.jobId).toBe(a.job.jobId);
  await expect(submit('g')).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  await ended(jobs.service, a.job.jobId);
  expect(await submit('f')).toMatchObject({ replayed: true, job: { status: 'completed' } });
  expect(jobs.events.filter(({ event }) => event === 'job_submitted')).toHaveLength(1);
  const repeat = await jobs.service.repeated(null, { key: 'k', fingerprint: 'f' });
  expect(repeat).toMatchObject({ jobId: a.job.jobId, status: 'completed' });
});

test('the number of the newest event goes on where the last process stopped', async () => {
  using folder = new TemporaryFolder();
  const first = await openTestJobs(folder);
  expect(first.service.lastSeq()).toBe(0);
  const { job } = await first.service.submit(specOf());
  await ended(first.service, job.jobId);
  expect(first.service.lastSeq()).toBe(3);
  await first[Symbol.asyncDispose]();
  await using second = await openTestJobs(folder);
  expect(second.service.lastSeq()).toBe(3);
});

test('cancelling takes images out of the detector and keeps finished entries', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.answer = ({ path }) => (path === 'p0.jpg' ? 'ok' : 'hang');
  await using jobs = await openTestJobs(folder, {}, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 50) }));
  await until(
    async () => (await jobs.service.get(job.jobId, null)).finishedImages === 1,
    'one entry',
  );
  const waiting = await jobs.service.submit(specOf());

  const cancelled = await jobs.service.cancel(job.jobId, null);
  expect(cancelled).toMatchObject({ status: 'failed', error: { code: 'cancelled', status: 409 } });
  await until(() => detector.paths.includes('a.jpg') && detector.inFlight === 1, 'detector left');
  expect(await jobs.service.images(job.jobId)).toMatchObject([
    { outcome: { status: 'ok' } },
    ...Array<object>(49).fill({ outcome: null }),
  ]);
  await expect(jobs.service.cancel(job.jobId, null)).rejects.toMatchObject({
    code: 'job_already_finished',
  });
  await jobs.service.cancel(waiting.job.jobId, null);
  expect(await jobs.service.counts()).toEqual({ pending: 0, running: 0, queuedImages: 0 });
});

test('races of cancel and completion: one end each, and every answer agrees with it', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder);
  const races = Array.from({ length: 400 }, async (_, race) => {
    const { job } = await jobs.service.submit(
      specOf({ imagePaths: imagesNamed('p', 1 + (race % 3)) }),
    );
    // Every tenth comes certainly too late, whatever else the machine does.
    if (race % 10 === 0) await ended(jobs.service, job.jobId);
    else await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    const cancelled = await jobs.service.cancel(job.jobId, null).then(
      () => true,
      () => false,
    );
    const { status, error } = await ended(jobs.service, job.jobId);
    expect(status).toBe(cancelled ? 'failed' : 'completed');
    expect(error?.code).toBe(cancelled ? 'cancelled' : undefined);
    return { jobId: job.jobId, cancelled };
  });
  const results = await Promise.all(races);
  expect(new Set(results.map(({ cancelled }) => cancelled)).size).toBe(2);
  const terminal = jobs.events.filter(
    ({ event }) => event === 'job_completed' || event === 'job_failed',
  );
  expect(terminal).toHaveLength(400);
  expect(new Set(terminal.map(({ jobId }) => jobId)).size).toBe(400);
  expect(await jobs.service.counts()).toEqual({ pending: 0, running: 0, queuedImages: 0 });
});

test('finished jobs go after their time', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {
    resultTtlHours: 0.2 / 3600,
    retentionIntervalMs: 20,
  });
  const { job } = await jobs.service.submit(specOf());
  await until(
    () =>
      jobs.service.get(job.jobId, null).then(
        () => false,
        () => true,
      ),
    'gone',
  );
  expect((await jobs.service.list({}, { limit: 9, cursor: null })).jobs).toEqual([]);
  expect((await jobs.service.eventsAfter(0, 9)).events).toHaveLength(3);
});

test('pages join to all entries; a job that goes while it is read is an error, not an end', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {
    resultTtlHours: 3 / 3600,
    retentionIntervalMs: 20,
  });
  const paths = imagesNamed('p', 3_000);
  const { job } = await jobs.service.submit(specOf({ imagePaths: paths }));
  await ended(jobs.service, job.jobId);
  const pages: ImageEntry[][] = [];
  for await (const page of jobs.service.imagePages(job.jobId)) pages.push(page);
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.flat().map(({ path }) => path)).toEqual(paths);
  expect(pages.flat()).toEqual(await jobs.service.images(job.jobId));

  const reading = jobs.service.imagePages(job.jobId)[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(pages[0]);
  await until(
    () =>
      jobs.service.images(job.jobId).then(
        () => false,
        () => true,
      ),
    'the images are gone',
  );
  // The job goes at once, its images in the sweeps that follow.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const rest = async () => {
    while ((await reading.next()).done !== true);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'job_not_found' });
});
