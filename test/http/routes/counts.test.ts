/** Counts over the jobs of a watch or a tag, over HTTP, also of jobs whose results are removed. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEFAULT_VEHICLES } from '../../../src/api/options.js';
import {
  ended,
  openTestJobs,
  specOf,
  TemporaryFolder,
  type TestJobs,
} from '../../jobs/job-folder.js';
import { compose, get, post, ROOT, type Harness } from '../../support/composed-app.js';
import { parkedCar } from '../../support/parked-car.js';
import { regionBetween } from '../../support/region-between.js';
import { SeeingDetector } from '../../support/seeing-detector.js';

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;
let detector: SeeingDetector;
beforeEach(async () => {
  folder = new TemporaryFolder();
  detector = new SeeingDetector();
  // The time of `late.jpg` is in no name, and the fake has no files.
  detector.answer = ({ path }) => (path.includes('broken') ? 'invalid_image' : 'ok');
  jobs = await openTestJobs(folder, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const at = (camera: string, time: string) => `${camera}/20251126_${time}.jpg`;

async function job(image_paths: string[], fields: object = {}): Promise<string> {
  const body = { job_type: 'detect_vehicles', image_paths, tags: ['Gate'], ...fields };
  const accepted = await post(app, '/v1/jobs/submit', body);
  expect(accepted.status).toBe(202);
  await ended(jobs.service, accepted.body.job_id as string);
  return accepted.body.job_id as string;
}

async function counts(query: string) {
  const { status, body } = await get(app, `/v1/counts?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Record<string, unknown> & {
    total: Record<string, unknown>;
    groups: { group: string | null; images: number; class_counts: Record<string, number> }[];
  };
}

const groupsOf = async (query: string) =>
  (await counts(query)).groups.map(({ group, images, class_counts }) => [
    group,
    images,
    class_counts,
  ]);

async function sweep(jobsBefore: number): Promise<void> {
  while ((await jobs.store.sweep({ jobsBefore, eventsBefore: 0, keysBefore: 0 })).more);
}

/** As retention does it, for all jobs that have ended. */
const retention = () => sweep(Date.now() / 1000 + 60);

async function removed(jobId: string): Promise<void> {
  await jobs.service.remove(jobId, null);
  await sweep(0);
}

test('jobs with a tag are added up by hour, day and folder, each by its own question', async () => {
  await job([at('north', '140000'), at('north', '145900'), at('south', '150000')]);
  await job([at('north', '143000'), 'late.jpg'], { confidence_threshold: 0.3 });
  await job([at('north', '143000')], { tags: ['other'] });
  const two = { car: 1, truck: 1 };
  expect(await groupsOf('tag=gate')).toEqual([
    ['2025-11-26T14:00', 3, { bus: 1, car: 3, truck: 3 }],
    ['2025-11-26T15:00', 1, two],
    [null, 1, { ...two, bus: 1 }],
  ]);
  expect(await groupsOf('tag=GATE&by=day')).toEqual([
    ['2025-11-26', 4, { bus: 1, car: 4, truck: 4 }],
    [null, 1, { ...two, bus: 1 }],
  ]);
  expect(await groupsOf('tag=gate&by=folder')).toEqual([
    ['.', 1, { ...two, bus: 1 }],
    ['north', 3, { bus: 1, car: 3, truck: 3 }],
    ['south', 1, two],
  ]);
  const hours = (await counts('tag=gate&by=folder_hour')).groups as { time?: string | null }[];
  expect(
    (await groupsOf('tag=gate&by=folder_hour')).map((row, at) => [
      ...row.slice(0, 2),
      hours[at]?.time,
    ]),
  ).toEqual([
    ['.', 1, null],
    ['north', 3, '2025-11-26T14:00'],
    ['south', 1, '2025-11-26T15:00'],
  ]);
  const table = (await get(app, '/v1/counts?tag=gate&by=folder_hour&format=csv')).body;
  expect(String(table).split('\r\n').slice(0, 2)).toEqual([
    expect.stringMatching(/^folder,hour,images,failed_images,.*,class_counts.truck$/),
    '.,,1,0,0,3,0,0,0,1,1,1,1',
  ]);
  const csv = (await get(app, '/v1/counts?tag=gate&by=day&format=csv')).body;
  expect(String(csv).split('\r\n')[1]).toBe('2025-11-26,4,0,0,9,0,4,0,0,1,4,4');
});

test('hours are bounded: from is the first one, and to is not among them', async () => {
  await job([at('n', '135959'), at('n', '140000'), at('n', '150000'), 'late.jpg']);
  const hours = async (query: string) =>
    (await groupsOf(`tag=gate&${query}`)).map(([hour]) => hour);
  expect(await hours('from=2025-11-26T14')).toEqual(['2025-11-26T14:00', '2025-11-26T15:00']);
  expect(await hours('to=2025-11-26T15:00')).toEqual(['2025-11-26T13:00', '2025-11-26T14:00']);
  expect(await hours('from=2025-11-26T14&to=2025-11-26T15')).toEqual(['2025-11-26T14:00']);
  expect(await hours('from=2025-11-26T14&to=2025-11-26T15&confidence_threshold=0.1')).toEqual([
    '2025-11-26T14:00',
  ]);
  expect(await hours('from=2025-11-27')).toEqual([]);
  for (const query of [
    'from=2025-11-26T14:30',
    'from=2025-13-01',
    'from=2025-11-27&to=2025-11-26',
  ]) {
    expect((await get(app, `/v1/counts?tag=gate&${query}`)).body, query).toMatchObject({
      code: 'validation_failed',
    });
  }
});

test('another question is asked of all jobs, and images that cannot answer it are told', async () => {
  await job([at('n', '140000'), at('n', 'broken')]);
  await job([at('n', '141000')], { confidence_threshold: 0.7 });
  const asked = await counts('tag=gate&confidence_threshold=0.3');
  expect(asked).toMatchObject({ jobs: 2, removed_images: 0, unanswered_images: 0 });
  expect(asked.total).toMatchObject({
    ...{ images: 3, failed_images: 1, empty_images: 0, detections: 6 },
    class_counts: { bus: 2, car: 2, truck: 2 },
    time_sources: { name: 2, none: 1 },
  });
  const region = JSON.stringify([regionBetween('left', 0, 0.5)]);
  const inRegion = await counts(`tag=gate&regions=${encodeURIComponent(region)}`);
  expect(inRegion.total).toMatchObject({ region_counts: { left: { car: 2 } } });
  expect(await counts('tag=gate&confidence_threshold=0.01')).toMatchObject({
    ...{ jobs: 2, unanswered_images: 3 },
    total: { images: 0 },
    groups: [],
  });
  expect((await get(app, '/v1/counts?tag=gate&tiles=auto')).status).toBe(422);
  expect((await get(app, '/v1/counts?tag=gate&view=none')).body).toMatchObject({
    code: 'view_not_found',
  });
});

test('a burst over several jobs is one event, also of another question and in regions', async () => {
  const first = await job([at('n', '140000')]);
  const second = await job([at('n', '140050'), at('n', 'broken')]);
  await job([at('n', '140400')]);
  const events = async (query: string) =>
    (await counts(`tag=gate&by=event&${query}`)) as unknown as {
      total: object;
      groups: { group: string; images: number; class_counts: object; best_image: object }[];
    };
  const both = await events('');
  expect(both).toMatchObject({ jobs: 3, removed_images: 0, pending_images: 0 });
  expect(both.groups.map(({ group, images }) => [group, images])).toEqual([
    ['2025-11-26T14:00:00', 2],
    ['2025-11-26T14:04:00', 1],
    [null, 1],
  ]);
  expect(both.groups[0]).toMatchObject({
    ...{ class_counts: { car: 1, truck: 1 }, camera: 'n', last_time: '2025-11-26T14:00:50' },
    best_image: { job_id: first, index: 0, image_path: at('n', '140000') },
  });
  const low = await events('confidence_threshold=0.3&from=2025-11-26&to=2025-11-27');
  expect(low.groups.map(({ class_counts }) => class_counts)).toEqual([
    { bus: 1, car: 1, truck: 1 },
    { bus: 1, car: 1, truck: 1 },
  ]);
  expect(low.total).toMatchObject({ images: 3, detections: 6 });
  const region = encodeURIComponent(JSON.stringify([regionBetween('left', 0, 0.5)]));
  expect((await events(`regions=${region}`)).groups[0]).toMatchObject({
    region_counts: { left: { car: 1 } },
  });
  expect((await events('event_gap_s=240')).groups).toMatchObject([{ images: 3 }, { images: 1 }]);
  expect((await events('event_gap_s=0')).groups).toHaveLength(4);
  await jobs.service.remove(second, null);
  expect((await events('')).groups).toMatchObject([{ images: 1 }, { images: 1 }]);
  await retention();
  expect(await events('')).toMatchObject({ jobs: 0, removed_images: 2, groups: [] });
});

test('vehicles that stand are left out or counted alone, by hour and by event, also of another question', async () => {
  const { minutes, path } = parkedCar;
  detector.found = parkedCar.found;
  const pathOf = (minute: number) => path('n', minute);
  // In several jobs, and not in order.
  await job(
    minutes
      .filter((minute) => minute % 4 === 0)
      .map(pathOf)
      .reverse(),
  );
  for (const minute of minutes.filter((each) => each % 4 !== 0)) await job([pathOf(minute)]);
  const cars = async (query: string) =>
    (await counts(`tag=gate&${query}`)).groups.map(({ class_counts }) => class_counts.car ?? 0);
  expect(await cars('by=hour')).toEqual([36]);
  expect(await cars('by=hour&static=exclude')).toEqual([20]);
  expect(await cars('by=folder&static=only')).toEqual([16]);
  expect(await cars('by=day&static=only&confidence_threshold=0.3')).toEqual([20]);
  expect(await cars('by=event&event_gap_s=120&static=exclude')).toEqual([1]);
  expect(await cars('by=event&event_gap_s=120')).toEqual([2]);
  const excluded = await counts('tag=gate&static=exclude&camera=all');
  expect(excluded.total).toMatchObject({ images: 20, failed_images: 0, detections: 20 });
  expect(excluded).toMatchObject({ jobs: 11, removed_images: 0, unanswered_images: 0 });
  for (const query of ['static=maybe', 'camera=all']) {
    expect((await get(app, `/v1/counts?tag=gate&${query}`)).status, query).toBe(422);
  }
});

test('counts outlive results that retention removes, and go with a job that is deleted', async () => {
  await job([at('north', '140000'), at('north', '141000'), at('south', '150000')]);
  const before = await counts('tag=gate');
  await retention();
  expect(await counts('tag=gate')).toEqual({ ...before, jobs: 0, removed_images: 3 });
  // A second job of the same hours: they are added up.
  const deleted = await job([at('north', '140500')]);
  await job([at('north', '140600')], { tags: [] });
  const both = await counts('tag=gate&by=folder');
  expect(both).toMatchObject({ jobs: 1, removed_images: 3, total: { images: 4 } });
  expect(both.groups.map(({ group, images }) => [group, images])).toEqual([
    ['north', 3],
    ['south', 1],
  ]);
  // Removed results answer no other question.
  expect(await counts('tag=gate&confidence_threshold=0.3')).toMatchObject({
    ...{ jobs: 1, removed_images: 3 },
    total: { images: 1, class_counts: { bus: 1, car: 1, truck: 1 } },
  });
  await jobs.service.remove(deleted, null);
  await retention();
  expect(await counts('tag=gate')).toEqual({ ...before, jobs: 0, removed_images: 3 });
});

/** A retry that has ended. */
async function retried(id: string, images: 'failed' | 'all' = 'failed'): Promise<string> {
  const { body } = await post(app, `/v1/jobs/${id}/retry?images=${images}`, {});
  await ended(jobs.service, body.job_id as string);
  return body.job_id as string;
}

const imagesOf = async (query: string) => {
  const { total } = await counts(`tag=gate&${query}`);
  return [total.images, total.failed_images, total.detections];
};

test('an image that is run again counts once, with its newest outcome, also when its first job is removed', async () => {
  const paths = [at('north', '140000'), at('north', '141000_broken'), at('south', 'broken')];
  const first = await job(paths);
  const asked = 'confidence_threshold=0.3';
  const everywhere = async () => [
    await imagesOf('by=folder'),
    await imagesOf(asked),
    await imagesOf('by=event'),
    await imagesOf(`by=event&${asked}`),
  ];
  expect(await imagesOf('')).toEqual([3, 2, 2]);
  const second = await retried(first);
  const threeOf = (failed: number, boxes: number, asks: number) => [
    ...[[3, failed, boxes], [3, failed, asks]],
    ...[[3, failed, boxes], [3, failed, asks]],
  ]; // prettier-ignore
  expect(await everywhere()).toEqual(threeOf(2, 2, 3));
  detector.answer = ({ path }) => (path.includes('south') ? 'invalid_image' : 'ok');
  const third = await retried(second);
  expect(await everywhere()).toEqual(threeOf(1, 4, 6));
  expect(await imagesOf('from=2025-11-26')).toEqual([2, 0, 4]);
  expect(await counts('tag=gate')).toMatchObject({
    ...{ jobs: 3, pending_images: 0, not_run_images: 0, removed_images: 0 },
    total: { time_sources: { name: 2, none: 1 } },
  });
  expect((await get(app, `/v1/jobs/${first}/counts`)).body.total).toMatchObject({ images: 3 });
  // Retried once more beside the others: of two runs the newest counts.
  detector.answer = () => 'ok';
  const beside = await retried(second);
  expect(await everywhere()).toEqual(threeOf(0, 6, 9));
  // Without it the run before counts again.
  await removed(beside);
  expect(await everywhere()).toEqual(threeOf(1, 4, 6));
  // All at once, and the jobs that are counted in its place.
  const all = await retried(first, 'all');
  expect(await everywhere()).toEqual(threeOf(0, 6, 9));
  await removed(all);
  const before = await counts('tag=gate&by=folder');
  await jobs.service.relabel(third, null, { keep: true });
  await retention();
  expect(await counts('tag=gate&by=folder')).toEqual({ ...before, jobs: 1, removed_images: 1 });
});

test('a watch has its counts by name, also once it is deleted, and an unknown one is an error', async () => {
  const { store, service } = jobs;
  const { options, ...settings } = specOf();
  const watched = { ...settings, options: { ...options, classes: DEFAULT_VEHICLES } };
  const content = {
    ...{ paths: ['n'], settleMs: 1, intervalMs: 1, schedule: null },
    ...{ batch: { maxImages: 9, maxWaitS: 0 }, existing: 'take' as const, paused: false },
    ...{ request: {}, settings: watched },
  };
  const { number } = await store.addWatch('', 'north-gate', content, [], 1);
  const files = ['140000', '150000'].map((time, inode) => ({
    path: at('n', time),
    version: `${inode + 1}-1-1`,
  }));
  const { job: submitted } = await service.submitFiles({ number, owner: '' }, files);
  await ended(service, submitted.jobId);
  const before = await counts('watch=north-gate');
  expect(before).toMatchObject({ watch: 'north-gate', jobs: 1, total: { images: 2 } });
  await retention();
  await store.deleteWatch(number);
  const after = { ...before, jobs: 0, removed_images: 2 };
  expect(await counts('watch=north-gate')).toEqual(after);
  expect(await counts('watch=north-gate&tag=gate')).toMatchObject({ total: { images: 0 } });
  expect((await get(app, '/v1/counts?watch=south-gate')).body).toMatchObject({
    code: 'watch_not_found',
  });
  expect((await get(app, '/v1/counts')).body).toMatchObject({ code: 'validation_failed' });
});
