/** Jobs of a size that only a cluster takes, over the real store and workers that answer after a while. */
import { expect, test } from 'vitest';
import { createJobs } from '../../src/jobs/jobs.js';
import { openStore } from '../../src/store/service-store.js';
import { imagesNamed, openParts, specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { silent } from '../support/silent-logger.js';
import { until } from '../support/eventually.js';
import { overWorkers, SimulatedWorker } from '../support/simulated-worker.js';

const WORKERS = 64;
const SLOTS = 4;
const SERVICE_MS = 5;
const MIB = 2 ** 20;

async function openCluster(folder: TemporaryFolder, workers: SimulatedWorker[]) {
  const detector = overWorkers(workers);
  const store = await openStore(folder.path);
  const jobs = await createJobs(store, {
    ...(await openParts(store, folder.path)),
    dataDir: folder.path,
    detector,
    maxQueuedJobs: 1_000,
    resultTtlHours: 24,
    volumePatienceMs: 0,
    logger: silent,
    ageingSeconds: 3_600,
  });
  jobs.start();
  return { detector, jobs };
}

const workersNamed = (count: number) =>
  Array.from(
    { length: count },
    (_, index) =>
      new SimulatedWorker(`worker-${index}`, {
        slots: { sync: SLOTS, async: SLOTS },
        serviceMs: SERVICE_MS,
        keeps: false,
      }),
  );

test('100,000 images on 64 workers, some of which are lost: each once, in order, in constant memory', async () => {
  using folder = new TemporaryFolder();
  const workers = workersNamed(WORKERS);
  const { detector, jobs } = await openCluster(folder, workers);
  const count = 100_000;
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('i', count) }));
  const finished = async () => (await jobs.service.get(job.jobId, null)).finishedImages;
  await until(async () => (await finished()) > 5_000, 'the job is under way');
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  for (const lost of workers.slice(0, 8)) {
    const reached = await finished();
    detector.leave(lost);
    lost.lose();
    // One at a time: an image that loses three workers in a row is given up, as it should be.
    await until(async () => (await finished()) > reached + 2_000, 'the next thousands');
  }
  await until(async () => {
    most = Math.max(most, process.memoryUsage().rss);
    return (await jobs.service.get(job.jobId, null)).status === 'completed';
  }, 'the end');
  expect(most - before).toBeLessThan(192 * MIB);
  expect(detector.events.requeued).toBeGreaterThan(0);
  const images = await jobs.service.images(job.jobId);
  expect(images).toHaveLength(count);
  const wrong = images.filter(
    ({ index, path, outcome }, at) =>
      index !== at || path !== `i${at}.jpg` || outcome?.status !== 'ok',
  );
  expect(wrong).toEqual([]);
  await jobs.stop(0);
});

test('an urgent job overtakes a large one', async () => {
  using folder = new TemporaryFolder();
  const { jobs } = await openCluster(folder, workersNamed(8));
  const submit = async (count: number, priority: number) =>
    (await jobs.service.submit(specOf({ imagePaths: imagesNamed('i', count), priority }))).job
      .jobId;
  const status = (jobId: string) => jobs.service.get(jobId, null);
  const large = await submit(20_000, 0);
  await until(async () => (await status(large)).finishedImages > 200, 'the large one runs');
  const urgent = await submit(200, 9);
  await until(async () => (await status(urgent)).status === 'completed', 'the urgent one ends');
  expect((await status(large)).status).toBe('running');
  await jobs.service.cancel(large, null);
  await jobs.stop(0);
});
