/** Counts by folder and hour in the store: whose they are, how many outlive their jobs, and what waits for them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NO_LABELS } from '../../src/api/job-labels.js';
import { packFound } from '../../src/boxes/found-boxes.js';
import type { Counted } from '../../src/store/count-tally.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { specOf, TemporaryFolder } from '../jobs/job-folder.js';
import { foundIn } from '../support/found-in.js';
import { okOutcome } from '../support/outcomes.js';

let folder: TemporaryFolder;
let store: ServiceStore;
let jobs = 0;
beforeEach(async () => {
  folder = new TemporaryFolder();
  store = await openStore(folder.path, { keptCounts: 3 });
});
afterEach(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

/** A job that has ended, with an image in each of these hours. Resolves with its number. */
async function job(hours: readonly number[], keyId: string | null = null): Promise<number> {
  const pathOf = (hour: number, index: number) =>
    `gate/20251126_${String(hour).padStart(2, '0')}0000_${index}.jpg`;
  const labels = { ...NO_LABELS, tags: ['gate'] };
  const spec = specOf({ imagePaths: hours.map(pathOf), keyId, labels });
  const submission = { jobId: `job_${++jobs}`, submittedAt: 1, idempotency: null, admit: true };
  const { job: added } = (await store.submit({ ...submission, spec, scoreFloor: 0.05 }))!;
  const { fencingToken } = (await store.start(added.number, 'w', 2))!;
  const found = packFound(foundIn({ width: 640, height: 480 }, [], { floor: 0.05 }));
  const outcomes = hours.map((_, index) => ({
    ...{ index, ok: true, outcome: JSON.stringify(okOutcome([])), found },
  }));
  await store.record(added.number, fencingToken, outcomes, 'w', 3);
  return added.number;
}

const hoursOf = async (keyId: string | null): Promise<string[]> => {
  const { sums } = (await store.countSums({ jobs: { keyId, tag: 'gate' } }, null)) as Counted;
  return sums.map(({ hour, sum }) => `${hour.slice(-2)}h ${sum.images}`).sort();
};

const sweepOnce = () => store.sweep({ jobsBefore: 10, eventsBefore: 0, keysBefore: 0 });
async function sweep(): Promise<void> {
  while ((await sweepOnce()).more);
}

test('of removed jobs each owner has its newest rows, and sees no other ones', async () => {
  await job([1, 2], 'ann');
  await job([2, 3, 4], 'ann');
  await job([5], 'bob');
  expect(await hoursOf('ann')).toEqual(['01h 1', '02h 2', '03h 1', '04h 1']);
  await sweep();
  expect(await hoursOf('ann')).toEqual(['02h 2', '03h 1', '04h 1']);
  expect(await hoursOf('bob')).toEqual(['05h 1']);
  expect(await hoursOf('eve')).toEqual([]);
  // Without keys all are of one owner.
  expect(await hoursOf(null)).toHaveLength(4);
});

test('where none are kept, they go with their jobs, and so do those that were kept', async () => {
  await job([5]);
  await sweep();
  expect(await hoursOf(null)).toEqual(['05h 1']);
  await store.close();
  store = await openStore(folder.path, { keptCounts: 0 });
  await job([6]);
  expect(await hoursOf(null)).toEqual(['05h 1', '06h 1']);
  await sweep();
  expect(await hoursOf(null)).toEqual([]);
});

test('a job counts where its tags of now say', async () => {
  const first = await job([1, 2]);
  await job([2]);
  const counts = async (tag: string) => {
    const { sums } = (await store.countSums({ jobs: { keyId: null, tag } }, null)) as Counted;
    return sums.map(({ hour, sum }) => `${hour.slice(-2)}h ${sum.images}`).sort();
  };
  const id = (await store.list({}, 9)).find(({ job: { number } }) => number === first)!.job.jobId;
  await store.relabel(id, null, { tags: ['Depot'] }, 4);
  expect([await counts('gate'), await counts('depot')]).toEqual([['02h 1'], ['01h 1', '02h 1']]);
  await store.relabel(id, null, { tags: [] }, 4);
  expect([await counts('gate'), await counts('depot')]).toEqual([['02h 1'], []]);
  await store.relabel(id, null, { tags: ['gate', 'depot'], notes: 'Monday' }, 4);
  expect(await counts('gate')).toEqual(['01h 1', '02h 2']);
  await store.remove(id, null);
  await sweep();
  expect([await counts('gate'), await counts('depot')]).toEqual([['02h 1'], []]);
});

test('rows of removed jobs are counted once while they are moved, step by step', async () => {
  const hours = Array.from({ length: 2_500 }, (_, index) => index % 3);
  await job(hours);
  await job(hours);
  const all = ['00h 1668', '01h 1666', '02h 1666'];
  for (let more = true; more;) {
    ({ more } = await sweepOnce());
    expect(await hoursOf(null)).toEqual(all);
  }
});

test('a submission does not wait for jobs that have no image in the hours', async () => {
  for (let at = 0; at < 300; at += 1) await job([1]);
  const asked = { question: { confidence: 0.3 }, viewRegions: null, storedViews: {} };
  const last = `job_${jobs}`;
  const scope = { jobs: { keyId: null, tag: 'gate' }, from: '2025-11-27T00' };
  const ended: string[] = [];
  const counted = store.countSums(scope, asked).then((sums) => {
    ended.push('counts');
    return sums as Counted;
  });
  await Promise.all([
    counted,
    store
      .relabel(last, null, { notes: 'first' }, 4)
      .then(() => store.relabel(last, null, { notes: 'second' }, 4))
      .then(() => ended.push('labels')),
  ]);
  expect(await counted).toMatchObject({ jobs: 300, sums: [] });
  expect(ended).toEqual(['labels', 'counts']);
});

test('counts of a job do not wait until no other one is removed', async () => {
  const number = await job(Array.from({ length: 5_000 }, (_, index) => index % 24));
  const asked = { question: { confidence: 0.3 }, viewRegions: null, storedViews: {} };
  let isCounted = false;
  const counted = store.countSums({ jobs: number }, asked).finally(() => (isCounted = true));
  while (!isCounted) {
    await job([1]);
    await store.remove(`job_${jobs}`, null);
  }
  expect(((await counted) as Counted).jobs).toBe(1);
});

test('a submission does not wait for counts of many images', async () => {
  const number = await job(Array.from({ length: 5_000 }, (_, index) => index % 24));
  const asked = { question: { confidence: 0.3 }, viewRegions: null, storedViews: {} };
  const ended: string[] = [];
  const counted = store.countSums({ jobs: number }, asked).then((sums) => {
    ended.push('counts');
    return sums as Counted;
  });
  await job([1]).then(() => ended.push('job'));
  const { sums } = await counted;
  expect(ended).toEqual(['job', 'counts']);
  expect(sums.reduce((images, { sum }) => images + sum.images, 0)).toBe(5_000);
  await expect(store.countSums({ jobs: 999 }, null)).rejects.toMatchObject({
    code: 'job_not_found',
  });
});
