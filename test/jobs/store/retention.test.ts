/** How long records are kept where the clock is wrong: as long as the service runs, whatever the clock does. */
import { expect, test } from 'vitest';
import { openJobStore } from '../../../src/jobs/store/job-store.js';
import type { JobStore } from '../../../src/jobs/store/job-store.js';
import { TemporaryFolder, specOf } from '../job-folder.js';

const HOUR = 3_600;
const KEPT = { resultTtlHours: 24, historyHours: 24 };
/** A machine without a battery for its clock starts here, until a time server corrects it. */
const WRONG = 1_000_000_000;
const RIGHT = 1_800_000_000;

let jobs = 0;

/** A job that ended when the clock showed `at`. */
async function endedAt(store: JobStore, at: number): Promise<string> {
  const jobId = `job_${++jobs}`;
  const submission = { jobId, submittedAt: at, idempotency: null, admit: true };
  await store.submit({ ...submission, spec: specOf() });
  await store.cancel(jobId, null, at);
  return jobId;
}

/** Sweeps after so many seconds of running time. Resolves with how many jobs went. */
async function sweep(store: JobStore, now: number, running: number): Promise<number> {
  const limits = await store.sweepLimits({ now, running, ...KEPT });
  return (await store.sweep(limits)).removed;
}

test('a job goes its hours after its end, while the clock is right', async () => {
  using folder = new TemporaryFolder();
  const store = await openJobStore(folder.path);
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

test.each([
  ['in one run', false],
  ['and a restart between', true],
])('a job that ended under a clock years behind is kept as long, %s', async (_name, restart) => {
  using folder = new TemporaryFolder();
  let store = await openJobStore(folder.path);
  // The store has run for days under a clock that was right.
  for (let hour = 0; hour <= 72; hour += 1) await sweep(store, RIGHT + hour * HOUR, hour * HOUR);
  let ran = 72 * HOUR;
  const reopen = async () => {
    await store.close();
    store = await openJobStore(folder.path);
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
