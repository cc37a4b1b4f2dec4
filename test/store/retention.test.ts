/** How long records are kept where the clock is wrong: as long as the service runs, whatever the clock does. */
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/service-store.js';
import type { ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder, specOf } from '../jobs/job-folder.js';

const HOUR = 3_600;
const KEPT = { resultTtlHours: 24, historyHours: 24 };
/** A machine without a battery for its clock starts here, until a time server corrects it. */
const WRONG = 1_000_000_000;
const RIGHT = 1_800_000_000;

let jobs = 0;

/** A job that ended when the clock showed `at`. */
async function endedAt(store: ServiceStore, at: number): Promise<string> {
  const jobId = `job_${++jobs}`;
  const submission = { jobId, submittedAt: at, idempotency: null, admit: true };
  await store.submit({ ...submission, spec: specOf() });
  await store.cancel(jobId, null, at);
  return jobId;
}

/** Sweeps after so many seconds of running time. Resolves with how many jobs went. */
async function sweep(store: ServiceStore, now: number, running: number): Promise<number> {
  const limits = await store.sweepLimits({ now, running, ...KEPT });
  return (await store.sweep(limits)).removed;
}

test('a job goes its hours after its end, while the clock is right', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  await sweep(store, RIGHT, 0);
  await endedAt(store, RIGHT + 60);
  let removedAt: number | null = null;
  for (let ran = 0; removedAt === null && ran < 26 * HOUR; ran += 300) {
    if ((await sweep(store, RIGHT + ran, ran)) === 1) removedAt = ran;
  }
  expect(removedAt).toBeGreaterThanOrEqual(24 * HOUR);
  expect(removedAt).toBeLessThanOrEqual(24 * HOUR + 600);
  await store.close();
});

test.each([true, 3])(
  'a job that is kept (%s) stays whatever the clock does, and goes in its time',
  async (keep) => {
    using folder = new TemporaryFolder();
    let store = await openStore(folder.path);
    await sweep(store, RIGHT, 0);
    const jobId = await endedAt(store, RIGHT + 60);
    await store.relabel(jobId, null, { keep }, RIGHT + 60);
    let ran = 0;
    /** An hour, after which the clock is set: a year ahead and back again, twenty years behind, right. */
    const settings = [365 * 24 * HOUR, 0, WRONG - RIGHT, 0];
    const hour = async () => {
      ran += HOUR;
      return sweep(store, RIGHT + ran + settings[(ran / HOUR) % settings.length]!, ran);
    };
    for (let hours = 1; hours < 72; hours += 1) expect(await hour(), `${hours} h`).toBe(0);
    expect((await store.find(jobId, null)).spec.labels.keep).toBe(keep);
    expect(await store.keptJobs()).toBe(1);
    // The running time of a process is kept when the process ends.
    await store.close();
    store = await openStore(folder.path);
    const before = ran;
    const after = (hours: number) => sweep(store, RIGHT + before + hours * HOUR, hours * HOUR);
    let removed = await after(0);
    for (let hours = 1; hours <= 30; hours += 1) removed += await after(hours);
    expect(removed).toBe(keep === true ? 0 : 1);
    expect(await store.keptJobs()).toBe(keep === true ? 1 : 0);
    await store.close();
  },
);

test('a keep of fewer days than the retention time shortens nothing; an ended keep is an ordinary job', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  const week = async (ran: number) => {
    const limits = await store.sweepLimits({
      ...{ now: RIGHT + ran, running: ran, resultTtlHours: 168, historyHours: 24 },
    });
    return (await store.sweep(limits)).removed;
  };
  await week(0);
  const jobId = await endedAt(store, RIGHT + 60);
  await store.relabel(jobId, null, { keep: 1 }, RIGHT + 60);
  for (let ran = 0; ran < 160 * HOUR; ran += HOUR) expect(await week(ran)).toBe(0);
  expect((await store.find(jobId, null)).spec.labels.keep).toBe(false);
  expect(await week(170 * HOUR)).toBe(1);
  await store.close();
});

test('drawn copies go with the last image that has them', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  const ran = async (jobId: string, copies: string[]) => {
    const how = { jobId, submittedAt: RIGHT, idempotency: null, admit: true };
    const spec = specOf({ imagePaths: copies.map((name) => `${name}.png`) });
    const { number } = (await store.submit({ ...how, spec }))!.job;
    const { fencingToken } = (await store.start(number, 'w', RIGHT))!;
    const outcomes = copies.map((annotatedPath, index) => ({
      ...{ index, ok: true },
      outcome: JSON.stringify({ status: 'ok', detections: [], annotatedPath }),
    }));
    await store.record(number, fencingToken, outcomes, 'w', RIGHT);
  };
  await ran('job_a', ['own.jpg', 'shared.jpg']);
  await ran('job_b', ['shared.jpg']);
  const inUse = () => store.copiesOfJobs(['own.jpg', 'shared.jpg', 'other.jpg']);
  expect((await inUse()).sort()).toEqual(['own.jpg', 'shared.jpg']);
  const nothingOld = { jobsBefore: 0, eventsBefore: 0, keysBefore: 0 };
  await store.remove('job_a', null);
  expect((await store.sweep(nothingOld)).copies).toEqual(['own.jpg']);
  expect(await inUse()).toEqual(['shared.jpg']);
  await store.remove('job_b', null);
  expect((await store.sweep(nothingOld)).copies).toEqual(['shared.jpg']);
  expect(await inUse()).toEqual([]);
  await store.close();
});

test.each([
  ['in one run', false],
  ['and a restart between', true],
])('a job that ended under a clock years behind is kept as long, %s', async (_name, restart) => {
  using folder = new TemporaryFolder();
  let store = await openStore(folder.path);
  // The store has run for days under a clock that was right.
  for (let hour = 0; hour <= 72; hour += 1) await sweep(store, RIGHT + hour * HOUR, hour * HOUR);
  let ran = 72 * HOUR;
  const reopen = async () => {
    await store.close();
    store = await openStore(folder.path);
    ran = 0;
  };
  await reopen();
  await sweep(store, WRONG, 0);
  const jobId = await endedAt(store, WRONG + 20);
  if (restart) await reopen();
  const now = RIGHT + 100 * HOUR;
  for (let hour = 0; hour <= 23; hour += 1) {
    expect(await sweep(store, now + hour * HOUR, ran + 60 + hour * HOUR)).toBe(0);
  }
  expect(await store.find(jobId, null)).toMatchObject({ jobId });
  let removed = 0;
  for (let hour = 24; hour <= 26; hour += 1) {
    removed += await sweep(store, now + hour * HOUR, ran + 60 + hour * HOUR);
  }
  expect(removed).toBe(1);
  await store.close();
});
