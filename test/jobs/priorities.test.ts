import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickNext, rankOf } from '../../src/jobs/priority.js';
import { FakeDetector } from '../support/fake-detector.js';
import { TemporaryFolder, ended, imagesNamed, openTestJobs, specOf, until } from './job-folder.js';

const arbitraryJob = fc.record({
  number: fc.integer({ min: 1, max: 1000 }),
  priority: fc.integer({ min: 0, max: 10 }),
  submittedAt: fc.integer({ min: 0, max: 1000 }),
});

test('property: nothing that was not picked outranks what was', () => {
  fc.assert(
    fc.property(fc.array(arbitraryJob, { minLength: 1 }), fc.boolean(), (jobs, agedTurn) => {
      const rank = (job: (typeof jobs)[number]) => rankOf(job, 1000, 100);
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
  await until('plugged', () => jobs.detector.inFlight === 1);
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
  await until('window full', () => jobs.detector.inFlight === 4);
  await submit('high', 7);
  await until('second window', () => jobs.detector.inFlight === 8);
  await submit('middle', 3);
  await submit('top', 10);
  await until('third window', () => jobs.detector.inFlight === 12);
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

test('priority 0 ends under a constant load of 10s, which keep at least half', async () => {
  using folder = new TemporaryFolder();
  const detector = new FakeDetector();
  detector.window = 2;
  detector.delayMs = 2;
  await using jobs = await openTestJobs(folder, { ageingSeconds: 0.05 }, detector);
  let loading = true;
  const submitTens = async () => {
    while (loading) {
      const { job } = await jobs.service.submit(
        specOf({ imagePaths: imagesNamed('ten', 30), priority: 10 }),
      );
      await ended(jobs.service, job.jobId);
    }
  };
  const load = [1, 2, 3, 4].map(submitTens);
  await until('load', () => jobs.detector.requests.length > 20);
  const begun = jobs.detector.requests.length;
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('old', 40) }));
  await ended(jobs.service, job.jobId);
  loading = false;
  await Promise.all(load);

  const paths = jobs.detector.paths.slice(begun);
  const first = paths.findIndex((path) => path.startsWith('old'));
  const last = paths.lastIndexOf('old39.jpg');
  const between = paths.slice(first, last).filter((path) => path.startsWith('ten'));
  expect(first).toBeGreaterThan(20);
  expect(between.length).toBeGreaterThanOrEqual(35);
});
