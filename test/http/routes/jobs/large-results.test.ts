/** The result of a job of a size that only a cluster takes, read while the service does other things. */
import { get, type IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { listen } from '../../../../src/http/server/listen.js';
import { createJobs } from '../../../../src/jobs/jobs.js';
import { openStore } from '../../../../src/store/service-store.js';
import { imagesNamed, openParts, specOf, TemporaryFolder } from '../../../jobs/job-folder.js';
import { silent } from '../../../support/silent-logger.js';
import { compose } from '../../../support/composed-app.js';
import { overWorkers, SimulatedWorker } from '../../../support/simulated-worker.js';

const IMAGES = 40_000;
const BOXES = 5;
const WORKERS = 16;

/** In a thread of its own, so that the lag of this one is the service's. */
const READER = `
  const { get } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  get(workerData, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      const { result } = JSON.parse(Buffer.concat(chunks).toString());
      const wrong = result.images.filter((image, at) => image.image_path !== 'i' + at + '.jpg').length;
      parentPort.postMessage({ images: result.images.length, wrong, boxes: result.total_count });
    });
  });`;

const readOf = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    new Worker(READER, { eval: true, workerData: url })
      .once('message', resolve)
      .once('error', reject);
  });

const answered = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, (response: IncomingMessage) => response.resume().on('end', resolve)).on(
      'error',
      reject,
    );
  });

test('while 40,000 images are read other requests are answered', async () => {
  using folder = new TemporaryFolder();
  const options = { slots: { sync: 4, async: 4 }, serviceMs: 0, keeps: false, boxes: BOXES };
  const workers = Array.from(
    { length: WORKERS },
    (_, index) => new SimulatedWorker(`worker-${index}`, options),
  );
  const detector = overWorkers(workers);
  const store = await openStore(folder.path);
  const jobs = await createJobs(store, {
    ...(await openParts(store, folder.path)),
    dataDir: folder.path,
    detector,
    maxQueuedJobs: 10,
    resultTtlHours: 24,
    volumePatienceMs: 0,
    logger: silent,
  });
  jobs.start();
  const server = await listen(compose({}, { jobs: jobs.service }), { host: '127.0.0.1', port: 0 });
  const spec = specOf({ imagePaths: imagesNamed('i', IMAGES) });
  const { job } = await jobs.service.submit(spec);
  await expect.poll(async () => (await jobs.service.get(job.jobId, null)).status).toBe('completed');

  const url = `${server.url}/v1/jobs/${job.jobId}/result`;
  let beside = 0;
  let over = false;
  const reading = readOf(url).finally(() => (over = true));
  while (!over) {
    await answered(`${server.url}/livez`);
    beside += 1;
  }
  expect(await reading).toEqual({ images: IMAGES, wrong: 0, boxes: IMAGES * BOXES });
  // A service that reads the whole result in one go answers a few.
  expect(beside).toBeGreaterThan(40);
  await server.close(0);
  await jobs.stop(0);
});
