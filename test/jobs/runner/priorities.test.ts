import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { pickNext, rankOf } from '../../../src/jobs/priority.js';
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

afterEach(() => {
  vi.restoreAllMocks();
});

const arbitraryJob = fc.record({
  number: fc.integer({ min: 1, max: 1000 }),
  priority: fc.integer({ min: 0, max: 10 }),
  waitingSince: fc.integer({ min: -1000, max: 0 }),
});

test('property: nothing that was not picked outranks what was', () => {
  fc.assert(
    fc.property(fc.array(arbitraryJob, { minLength: 1 }), fc.boolean(), (jobs, agedTurn) => {
      const rank = (job: (typeof jobs)[number]) => rankOf(job, 0, 100);
      const picked = pickNext(jobs, agedTurn, rank)!;
      const { level, aged } = rank(picked);
      for (const job of jobs) {
        const other = rank(job);
        expect(other.level).toBeLessThanOrEqual(level);
        if (other.level === level && other.aged === aged) {
          expect(job.number).toBeGreaterThanOrEqual(picked.number);
        }
        if (other.level === level && other.aged === agedTurn) expect(aged).toBe(agedTurn);
      }
    }),
  );
});

test('property: a level lies between the priority and 10 and never falls with time', () => {
  fc.assert(
    fc.property(arbitraryJob, fc.nat(5000), fc.nat(5000), (job, now, more) => {
      const before = rankOf(job, now, 30).level;
      expect(before).toBeGreaterThanOrEqual(job.priority);
      expect(before).toBeLessThanOrEqual(10);
      expect(rankOf(job, now + more, 30).level).toBeGreaterThanOrEqual(before);
    }),
  );
});

test('urgent jobs go first, equals in order of submission', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.window = 1;
  await using jobs = await openTestJobs(folder, {}, detector);
  detector.answer = ({ path }) => (path === 'plug.jpg' ? 'hang' : 'ok');
  const plug = await jobs.service.submit(specOf({ imagePaths: ['plug.jpg'], priority: 10 }));
  await until(() => jobs.detector.inFlight === 1, 'plugged');
  const submit = (name: string, priority: number) =>
    jobs.service.submit(specOf({ imagePaths: imagesNamed(name, 2), priority }));
  const submitted = [];
  for (const [name, priority] of [
    ['a', 0],
    ['b', 5],
    ['c', 5],
    ['d', 9],
    ['e', 0],
  ] as const) {
    submitted.push(await submit(name, priority));
  }
  for (const { job } of submitted) {
    // Then its images are at hand.
    await until(async () => (await jobs.service.get(job.jobId, null)).status === 'running', 'open');
  }
  await jobs.service.cancel(plug.job.jobId, null);
  for (const { job } of submitted) await ended(jobs.service, job.jobId);
  const order = jobs.detector.paths.slice(1).map((path) => path[0]);
  expect(order.join('')).toBe('ddbbccaaee');
});

test('urgent images enter a full window at once, one window a level', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.window = 4;
  await using jobs = await openTestJobs(folder, {}, detector);
  detector.answer = () => 'hang';
  const submit = (name: string, priority: number) =>
    jobs.service.submit(specOf({ imagePaths: imagesNamed(name, 20), priority }));
  await submit('low', 0);
  await until(() => jobs.detector.inFlight === 4, 'window full');
  await submit('high', 7);
  await until(() => jobs.detector.inFlight === 8, 'second window');
  await submit('middle', 3);
  await submit('top', 10);
  await until(() => jobs.detector.inFlight === 12, 'third window');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const names = jobs.detector.requests.map(
    ({ path, priority }) => `${path.slice(0, 3)}${priority}`,
  );
  expect(names).toEqual([
    ...Array(4).fill('low0'),
    ...Array(4).fill('hig7'),
    ...Array(4).fill('top10'),
  ]);
});

test('priority 0 that has waited takes turns with 10s, which keep half', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openPlugged(folder);
  const submit = async (name: string, count: number, priority: number) => {
    const spec = specOf({ imagePaths: imagesNamed(name, count), priority });
    return (await jobs.service.submit(spec)).job.jobId;
  };
  const plug = await submitOne(jobs, 'plug.jpg', 10);
  await until(() => jobs.detector.inFlight === 1, 'plugged');
  const old = await submit('old', 40, 0);
  const ten = await submit('ten', 200, 10);
  for (const id of [old, ten]) {
    // Then its images are at hand: where the store is slow, what is at hand goes first, whatever its priority.
    await until(async () => (await jobs.service.get(id, null)).status === 'running', 'open');
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  await jobs.service.cancel(plug, null);
  for (const id of [old, ten]) await ended(jobs.service, id);

  const order = jobs.detector.paths.slice(1).map((path) => path.slice(0, 3));
  const last = order.lastIndexOf('old');
  const tens = order.slice(0, last + 1).filter((name) => name === 'ten');
  expect(tens.length).toBeGreaterThanOrEqual(39);
  expect(tens.length).toBeLessThanOrEqual(41);
});

const systemNow = Date.now.bind(Date);
const HOUR_MS = 3_600_000;

/** The system's clock only; the monotonic one goes on. */
function setClock(aheadMs: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => systemNow() + aheadMs);
}

/** With ageing by 10 levels in 200 ms, and a detector that is held up by the job `plug.jpg`. */
function openPlugged(folder: TemporaryFolder): Promise<TestJobs> {
  const detector = new FakeDetector();
  detector.window = 1;
  detector.answer = ({ path }) => (path === 'plug.jpg' ? 'hang' : 'ok');
  return openTestJobs(folder, { ageingSeconds: 0.02 }, detector);
}

async function submitOne({ service }: TestJobs, path: string, priority: number): Promise<string> {
  const { job } = await service.submit(specOf({ imagePaths: [path], priority }));
  return job.jobId;
}

/** Images in the order that they came to the detector in, after waiting for long and a new urgent job. */
async function orderAfterWaiting(jobs: TestJobs, plug: string, old: string): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, 300));
  const urgent = await submitOne(jobs, 'new.jpg', 9);
  await until(async () => {
    return (await jobs.service.get(urgent, null)).status === 'running';
  }, 'its images are at hand');
  await jobs.service.cancel(plug, null);
  for (const id of [old, urgent]) await ended(jobs.service, id);
  return jobs.detector.paths;
}

test('a job goes on ageing when the clock is set back', async () => {
  using folder = new TemporaryFolder();
  await using jobs = await openPlugged(folder);
  const plug = await submitOne(jobs, 'plug.jpg', 10);
  await until(() => jobs.detector.inFlight === 1, 'plugged');
  const old = await submitOne(jobs, 'old.jpg', 0);
  setClock(-HOUR_MS);
  expect(await orderAfterWaiting(jobs, plug, old)).toEqual(['plug.jpg', 'old.jpg', 'new.jpg']);
});

test('a job ages from the start on when the clock was set back before it', async () => {
  using folder = new TemporaryFolder();
  setClock(HOUR_MS);
  const before = await openPlugged(folder);
  const plug = await submitOne(before, 'plug.jpg', 10);
  const old = await submitOne(before, 'old.jpg', 0);
  await before.stop(0);
  setClock(0);
  await using jobs = await openPlugged(folder);
  await until(() => jobs.detector.inFlight === 1, 'plugged');
  expect(await orderAfterWaiting(jobs, plug, old)).toEqual(['plug.jpg', 'old.jpg', 'new.jpg']);
});

test('a job has aged over a stop', async () => {
  using folder = new TemporaryFolder();
  setClock(-HOUR_MS);
  const before = await openPlugged(folder);
  const plug = await submitOne(before, 'plug.jpg', 10);
  const old = await submitOne(before, 'old.jpg', 0);
  await before.stop(0);
  setClock(0);
  await using jobs = await openTestJobs(folder, { ageingSeconds: 60 });
  for (const id of [plug, old]) await ended(jobs.service, id);
  expect(jobs.detector.requests.map(({ priority }) => priority)).toEqual([10, 10]);
});
