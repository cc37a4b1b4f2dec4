/** The state after the process has died, and how the next start continues from it. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { taskId } from '../../../src/store/job-records.js';
import { setCrashMarkerAside } from '../../../src/store/crash-marker.js';
import { LatticeError } from '../../../src/api/errors.js';
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

const CHILD = fileURLToPath(new URL('../crash-child.mjs', import.meta.url));
const KILLS = 20;

/** Runs the child until `lifeMs` after it opened the folder; gives the ids it was told. */
async function runAndKill(dataDir: string, lifeMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const exited = new Promise<string | null>((resolve) => {
    child.once('close', (_code, signal) => {
      resolve(signal);
    });
  });
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  await until(() => output.startsWith('open\n') || child.exitCode !== null, 'child open');
  await sleep(lifeMs);
  child.kill('SIGKILL');
  expect(await exited).toBe('SIGKILL');
  // A line that the kill cut short was never told.
  return output.split('\n').slice(1, -1);
}

async function allEvents({ service }: TestJobs) {
  const all = [];
  for (let after = 0; ;) {
    const { events, gap } = await service.eventsAfter(after, 1000);
    expect(gap).toBe(false);
    all.push(...events);
    const last = events.at(-1);
    if (last === undefined) return all;
    after = last.seq;
  }
}

test(`${KILLS} kills under load: nothing acknowledged is lost, each job ends once`, async () => {
  using folder = new TemporaryFolder();
  const acknowledged: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    acknowledged.push(...(await runAndKill(folder.path, 20 + Math.random() * 250)));
  }
  await using jobs = await openTestJobs(folder);
  await until(async () => {
    const { pending, running } = await jobs.service.counts();
    return pending + running === 0;
  }, 'drained');
  expect(await jobs.service.counts()).toEqual({ pending: 0, running: 0, queuedImages: 0 });

  const events = await allEvents(jobs);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const submitted = events.filter(({ event }) => event === 'job_submitted').map((e) => e.jobId);
  const terminal = events
    .filter(({ event }) => event === 'job_completed' || event === 'job_failed')
    .map((e) => e.jobId);
  expect(new Set(terminal).size).toBe(terminal.length);
  expect([...terminal].sort()).toEqual([...submitted].sort());
  const known = new Set(submitted);
  expect(acknowledged.filter((jobId) => !known.has(jobId))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(KILLS);
  let failedImages = 0;
  for (const { jobId } of events.filter(({ event }) => event === 'job_completed').slice(0, 200)) {
    const job = await jobs.service.get(jobId, null);
    const outcomes = (await jobs.service.images(jobId)).map(({ outcome }) => outcome?.status);
    expect(outcomes.filter((status) => status === 'error')).toHaveLength(job.failedImages);
    failedImages += job.failedImages;
  }
  expect(failedImages).toBeGreaterThan(0);
  for (const { jobId } of events.slice(-20)) {
    const job = await jobs.service.get(jobId, null);
    const images = await jobs.service.images(jobId);
    if (job.status === 'completed') expect(images.every(({ outcome }) => outcome)).toBe(true);
    const pending = await jobs.store.webhooks.forJob(jobId);
    expect(pending).toHaveLength(job.spec.callbackUrl === null ? 0 : 1);
  }
  console.log(`${KILLS} kills, ${acknowledged.length} acknowledged jobs, 0 lost`);
});

/** Opens, submits three images that hang, and leaves as a crash would: no outcome, marker written. */
async function crashWith(folder: TemporaryFolder, lines: (number: number) => number[]) {
  const detector = new FakeDetector();
  detector.answer = () => 'hang';
  const jobs = await openTestJobs(folder, {}, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', 3) }));
  await until(() => detector.inFlight === 3, 'in hand');
  await jobs.stop(0);
  writeMarker(folder, lines(1));
  return job;
}

function writeMarker(folder: TemporaryFolder, tasks: number[]) {
  writeFileSync(join(folder.path, 'crash.marker'), tasks.map((task) => `${task}\n`).join(''));
}

test('the image that the crashing thread had in hand is stopped at its second death', async () => {
  using folder = new TemporaryFolder();
  const all = [0, 1, 2].map((index) => taskId(1, index));
  const job = await crashWith(folder, () => [taskId(1, 1), ...all]);
  const hanging = new FakeDetector();
  hanging.answer = () => 'hang';
  const first = await openTestJobs(folder, {}, hanging);
  await until(() => hanging.inFlight === 1, 'suspect in hand');
  await first.stop(0);
  // Alone in the detector, the others not begun.
  expect(hanging.paths).toEqual(['p1.jpg']);
  writeMarker(folder, [taskId(1, 1), taskId(1, 1)]);

  await using second = await openTestJobs(folder);
  expect(await ended(second.service, job.jobId)).toMatchObject({ status: 'completed' });
  expect(second.detector.paths).toEqual(['p0.jpg', 'p2.jpg']);
  const images = await second.service.images(job.jobId);
  expect(images[1]?.outcome).toMatchObject({ status: 'error', error: { code: 'poison_input' } });
  expect(existsSync(join(folder.path, 'crash.uncharged'))).toBe(false);
});

test('where no image is named all in hand run alone, and innocents are freed', async () => {
  using folder = new TemporaryFolder();
  const job = await crashWith(folder, () => [0, taskId(1, 0), taskId(1, 1), 7]);
  await using jobs = await openTestJobs(folder);
  await ended(jobs.service, job.jobId);
  expect(jobs.detector.paths).toEqual(['p0.jpg', 'p1.jpg', 'p2.jpg']);
  expect(jobs.detector.peak).toBe(1);
});

test('one marker is charged once, an empty one never', async () => {
  using folder = new TemporaryFolder();
  const job = await crashWith(folder, () => [taskId(1, 0)]);
  const marker = join(folder.path, 'crash.uncharged');
  setCrashMarkerAside(folder.path);
  expect(existsSync(marker)).toBe(true);
  // As the addon leaves it when it opens the file.
  writeFileSync(join(folder.path, 'crash.marker'), '');
  setCrashMarkerAside(folder.path);
  const detector = new FakeDetector();
  detector.answer = () => 'hang';
  await (await openTestJobs(folder, {}, detector)).stop(0);
  expect(existsSync(marker)).toBe(false);
  expect(existsSync(join(folder.path, 'crash.marker'))).toBe(true);

  await using jobs = await openTestJobs(folder);
  expect(await ended(jobs.service, job.jobId)).toMatchObject({ status: 'completed' });
  expect(await jobs.service.images(job.jobId)).toMatchObject([
    { outcome: { status: 'ok' } },
    { outcome: { status: 'ok' } },
    { outcome: { status: 'ok' } },
  ]);
});

test('a suspect that its deadline ends is no death: it runs again, after its model is ready', async () => {
  using folder = new TemporaryFolder();
  const job = await crashWith(folder, () => [taskId(1, 1)]);
  const detector = new FakeDetector();
  const log: string[] = [];
  detector.prepare = async (modelName) => {
    await sleep(50);
    log.push(`ready ${modelName}`);
    throw new LatticeError('unknown_model', 'The fake has no models.');
  };
  detector.answer = ({ path, deadlineMs }) => {
    log.push(path);
    return deadlineMs === undefined ? 'ok' : 'deadline_exceeded';
  };
  await using jobs = await openTestJobs(folder, {}, detector);
  expect(await ended(jobs.service, job.jobId)).toMatchObject({ status: 'completed' });
  expect(log.slice(0, 2)).toEqual([`ready ${specOf().options.modelName}`, 'p1.jpg']);
  expect(log.filter((each) => each === 'p1.jpg')).toHaveLength(2);
  for (const { outcome } of await jobs.service.images(job.jobId)) {
    expect(outcome).toMatchObject({ status: 'ok' });
  }
});
