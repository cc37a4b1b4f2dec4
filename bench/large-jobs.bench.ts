/** The cost of a job of 100,000 images for the service, its size on disk, and the times of reading its result. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJobs } from '../src/jobs/jobs.js';
import { openStore } from '../src/store/service-store.js';
import { openParts, specOf } from '../test/jobs/job-folder.js';
import { silent } from '../test/support/silent-logger.js';
import { overWorkers, SimulatedWorker } from '../test/support/simulated-worker.js';
import { HttpClient } from './load/http-client.js';
import { summarise } from './load/percentiles.js';
import { residentMib } from './load/resident.js';
import { serve, setting, type Measurement } from './setting.js';

const IMAGES = 100_000;
const WORKERS = 64;
const BOXES = 5;
const MIB = 2 ** 20;

interface Kept {
  jobId: string;
  bytesPerImage: number;
  imagesPerSecond: number;
  cpuUs: number;
  moreMemory: number;
}

export default async function largeJobs(): Promise<Measurement[]> {
  const queued = await inFolder((folder) => runJob(folder, null));
  const empty = await inFolder((folder) => runJob(folder, 0));
  return inFolder(async (folder) => {
    const full = await runJob(folder, BOXES);
    const job = `a job of ${IMAGES} images without sockets, ${WORKERS} workers`;
    return [
      { what: job, value: full.imagesPerSecond, unit: 'images/s' },
      { what: 'CPU time for each of them', value: full.cpuUs, unit: 'us' },
      {
        what: 'memory above the start during this job, most',
        value: full.moreMemory / MIB,
        unit: 'MiB',
      },
      stored('queued', queued),
      stored('done, without boxes', empty),
      stored(`done, ${BOXES} boxes`, full),
      ...(await readResult(folder, full.jobId)),
    ];
  });
}

const stored = (state: string, { bytesPerImage }: Kept): Measurement => ({
  what: `bytes of jobs.db per image, ${state}, path of 39 letters`,
  value: bytesPerImage,
  unit: 'B',
});

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-large-job-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Closes the store at the end. `boxes` null: no worker takes the images. */
async function runJob(dataDir: string, boxes: number | null): Promise<Kept> {
  const options = { slots: { sync: 4, async: 4 }, serviceMs: 5, keeps: false, boxes: boxes ?? 0 };
  const workers = Array.from(
    { length: boxes === null ? 0 : WORKERS },
    (_, index) => new SimulatedWorker(`worker-${index}`, options),
  );
  const store = await openStore(dataDir);
  const jobs = await createJobs(store, {
    ...(await openParts(store, dataDir)),
    dataDir,
    detector: overWorkers(workers),
    maxQueuedJobs: 10,
    resultTtlHours: 24,
    volumePatienceMs: 0,
    logger: silent,
  });
  jobs.start();
  const imagePaths = Array.from(
    { length: IMAGES },
    (_, index) => `2026/11/26/camera-007/${String(index).padStart(13, '0')}.jpg`,
  );
  const memory = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const { job } = await jobs.service.submit(specOf({ imagePaths }));
  let most = 0;
  while (boxes !== null && (await jobs.service.get(job.jobId, null)).status !== 'completed') {
    most = Math.max(most, process.memoryUsage.rss() - memory);
    await sleep(20);
  }
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await jobs.stop(0);
  return {
    jobId: job.jobId,
    bytesPerImage: statSync(join(dataDir, 'jobs.db')).size / IMAGES,
    imagesPerSecond: IMAGES / seconds,
    cpuUs: (user + system) / IMAGES,
    moreMemory: most,
  };
}

/** Over HTTP, from a service on the folder that the job has left, with short requests beside it. */
async function readResult(folder: string, jobId: string): Promise<Measurement[]> {
  await using service = await serve(setting(), { LATTICE_DATA_DIR: folder });
  using client = new HttpClient(service.url, 2);
  const before = residentMib(service.pid);
  const beside: number[] = [];
  let most = before;
  let over = false;
  const reading = client.send('GET', `/v1/jobs/${jobId}/result`).finally(() => (over = true));
  while (!over) {
    beside.push((await client.send('GET', '/livez')).ms);
    most = Math.max(most, residentMib(service.pid));
  }
  const { status, ms } = await reading;
  if (status !== 200) throw new Error(`The result was answered ${status}.`);
  return [
    { what: `reading the result of ${IMAGES} images`, value: ms / 1_000, unit: 's' },
    { what: 'a short request meanwhile, p99', value: summarise(beside).p99, unit: 'ms' },
    { what: 'memory of the service above the start meanwhile', value: most - before, unit: 'MiB' },
  ];
}
