/** Jobs whose images lie on a volume that does not answer. */
import { expect, test } from 'vitest';
import type { JobSpec } from '../../../src/store/job.js';
import { FakeDetector } from '../../support/fake-detector.js';
import {
  TemporaryFolder,
  ended,
  imagesNamed,
  openTestJobs,
  specOf,
  type TestJobs,
} from '../job-folder.js';
import { until } from '../../support/eventually.js';

/** Images named `gone...` cannot be read until it is `back`. */
class TwoVolumes extends FakeDetector {
  back = false;
  override answer = ({ path }: { path: string }) =>
    path.startsWith('gone') && !this.back ? ('volume_unavailable' as const) : ('ok' as const);

  get tried(): Set<string> {
    return new Set(this.paths.filter((path) => path.startsWith('gone')));
  }
}

const submitTo = async ({ service }: TestJobs, changes: Partial<JobSpec>) =>
  (await service.submit(specOf(changes))).job;

test('a job waits for its volume and delays no other job', async () => {
  using folder = new TemporaryFolder();
  const detector = new TwoVolumes();
  detector.window = 2;
  await using jobs = await openTestJobs(folder, {}, detector);
  const gone = await submitTo(jobs, { imagePaths: imagesNamed('gone', 300), priority: 5 });
  await until(() => detector.tried.size >= 64, 'held up');
  const well = await submitTo(jobs, { imagePaths: imagesNamed('well', 300) });
  expect(await ended(jobs.service, well.jobId)).toMatchObject({ status: 'completed' });
  expect(await jobs.service.get(gone.jobId, null)).toMatchObject({
    status: 'running',
    finishedImages: 0,
  });
  // Few are tried in vain, however many there are.
  expect(detector.tried.size).toBeLessThan(200);

  detector.back = true;
  const job = await ended(jobs.service, gone.jobId);
  expect(job).toMatchObject({ status: 'completed', finishedImages: 300 });
  expect(detector.tried.size).toBe(300);
});

test('many small jobs on a lost volume do not block others', async () => {
  using folder = new TemporaryFolder();
  const detector = new TwoVolumes();
  detector.window = 2;
  await using jobs = await openTestJobs(folder, {}, detector);
  const gone = [];
  for (let i = 0; i < 50; i += 1) gone.push(await submitTo(jobs, { imagePaths: [`gone${i}.jpg`] }));
  const well = await submitTo(jobs, { imagePaths: ['well.jpg'] });
  await ended(jobs.service, well.jobId);
  detector.back = true;
  for (const { jobId } of gone)
    expect(await ended(jobs.service, jobId)).toMatchObject({ status: 'completed' });
});

test('a job on two volumes first runs the images that can be read', async () => {
  using folder = new TemporaryFolder();
  const detector = new TwoVolumes();
  await using jobs = await openTestJobs(folder, {}, detector);
  const imagePaths = [...imagesNamed('gone', 20), ...imagesNamed('well', 200)];
  const { jobId } = await submitTo(jobs, { imagePaths });
  await until(async () => {
    const job = await jobs.service.get(jobId, null);
    return job.finishedImages === 200;
  }, 'the others');
  detector.back = true;
  expect(await ended(jobs.service, jobId)).toMatchObject({ finishedImages: 220 });
});

test('after the waiting time they fail, each with the reason', async () => {
  using folder = new TemporaryFolder();
  const changes = { volumePatienceMs: 150 };
  await using jobs = await openTestJobs(folder, changes, new TwoVolumes());
  const imagePaths = [...imagesNamed('gone', 150), 'well.jpg'];
  const { jobId } = await submitTo(jobs, { imagePaths });
  const began = Date.now();
  const job = await ended(jobs.service, jobId);
  expect(Date.now() - began).toBeGreaterThanOrEqual(100);
  expect(job).toMatchObject({ status: 'completed', finishedImages: 151 });
  for await (const [entry] of jobs.service.imagePages(jobId)) {
    expect(entry).toMatchObject({
      outcome: { status: 'error', error: { code: 'volume_unavailable' } },
    });
    break;
  }
});

test('a job that waits for its volume can be cancelled and survives a restart', async () => {
  using folder = new TemporaryFolder();
  const detector = new TwoVolumes();
  await using first = await openTestJobs(folder, {}, detector);
  const submit = (prefix: string) => submitTo(first, { imagePaths: imagesNamed(prefix, 100) });
  const [cancelled, kept] = [await submit('gone-a'), await submit('gone-b')];
  await until(() => detector.tried.size >= 120, 'both wait');
  await first.service.cancel(cancelled.jobId, null);
  await until(async () => {
    detector.requests.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return detector.paths.length > 0 && detector.paths.every((path) => path.startsWith('gone-b'));
  }, 'nothing of it is tried again');
  await using second = await first.reopen();
  expect(await ended(second.service, kept.jobId)).toMatchObject({
    status: 'completed',
    finishedImages: 100,
  });
});
