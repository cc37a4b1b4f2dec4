/** Places over HTTP, and what their dismissal takes out of counts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Detection } from '../../../src/api/schemas/image.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../../jobs/job-folder.js';
import { compose, get, post, ROOT, type Harness } from '../../support/composed-app.js';
import { parkedCar } from '../../support/parked-car.js';
import { regionBetween } from '../../support/region-between.js';
import { SeeingDetector } from '../../support/seeing-detector.js';

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;
beforeEach(async () => {
  folder = new TemporaryFolder();
  const detector = new SeeingDetector();
  detector.found = foundIn;
  jobs = await openTestJobs(folder, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const { minutes, path: pathOf } = parkedCar;
const PARKED: Detection['box'] = [10, 10, 40, 30];

/** A parked car, and one that drives past in all pictures but the first. */
function foundIn(path: string): Detection[] {
  const minute = minutes.find((each) => path.endsWith(pathOf('', each))) ?? 0;
  const passing: Detection['box'] = [minute * 2, 60, minute * 2 + 12, 70];
  return [
    ...(minute === 0 ? [] : [{ box: passing, confidence: 0.9, class: 'car' }]),
    { box: PARKED, confidence: 0.8, class: 'car' },
  ];
}

async function job(camera: string, fields: object = {}): Promise<string> {
  const image_paths = minutes.map((minute) => pathOf(camera, minute));
  const body = { job_type: 'detect_vehicles', image_paths, tags: ['Gate'], ...fields };
  const accepted = await post(app, '/v1/jobs/submit', body);
  await ended(jobs.service, accepted.body.job_id as string);
  return accepted.body.job_id as string;
}

const PATH = '/v1/places/dismissals';

async function placesOf(query: string) {
  const { status, body } = await get(app, `/v1/places?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.places as { camera: string; best_image: { job_id: string; index: number } }[];
}

async function cars(path: string): Promise<number> {
  const { status, body } = await get(app, path);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body.total.class_counts.car as number | undefined) ?? 0;
}

test('a place has its best image, its stays and how often it was seen, by camera', async () => {
  const jobId = await job('n');
  await job('s');
  const places = await placesOf('tag=gate');
  expect(places.map(({ camera }) => camera)).toEqual(['n', 's']);
  expect(places[0]).toMatchObject({
    ...{ class: 'car', confidence: 0.8, box: PARKED, image: { width: 100, height: 100 } },
    best_image: { job_id: jobId },
    ...{ images: 20, seen_images: 20, occupied: true, older_stays: 0, dismissal: null },
    stays: [{ since: '2025-11-26T14:00:00', last_seen: '2025-11-26T14:38:00', images: 20 }],
  });
  expect(await placesOf('tag=gate&confidence_threshold=0.85')).toEqual([]);
  expect(await placesOf('tag=gate&from=2025-11-27')).toEqual([]);
  for (const [query, code] of [
    ['', 'validation_failed'],
    ['tag=gate&by=hour', 'validation_failed'],
    ['tag=gate&tiles=auto', 'needs_new_run'],
    ['tag=gate&view=none', 'view_not_found'],
    ['watch=none', 'watch_not_found'],
  ]) {
    expect((await get(app, `/v1/places?${query}`)).body, query).toMatchObject({ code });
  }
});

test('boxes of a dismissed place are left out of counts of its camera until it is taken back', async () => {
  const jobId = await job('n', { regions: [regionBetween('left', 0, 0.5)] });
  await job('s');
  const readings = [
    ...['by=hour', 'by=folder', 'by=event&event_gap_s=0', 'by=day&confidence_threshold=0.3'],
    ...['by=hour&static=only', 'by=hour&static=exclude', 'by=event&event_gap_s=0&static=only'],
  ];
  const all = () => Promise.all(readings.map((query) => cars(`/v1/counts?tag=gate&${query}`)));
  const before = await all();
  expect(before).toEqual([78, 78, 78, 78, 40, 38, 40]);
  const [place] = await placesOf('tag=gate');
  const { index } = place!.best_image;
  const dismissed = { job_id: jobId, index, class: 'truck', box: PARKED };
  const made = await post(app, PATH, dismissed);
  expect(made).toMatchObject({
    status: 201,
    body: { camera: 'n', class_group: 'vehicle', box: PARKED, image: { width: 100, height: 100 } },
  });
  const { id } = made.body as { id: number };
  expect(await all()).toEqual([58, 58, 58, 58, 20, 38, 20]);
  const ofJob = `/v1/jobs/${jobId}/counts`;
  expect(await cars(`${ofJob}?by=hour`)).toBe(19);
  expect(await cars(`${ofJob}?by=day&confidence_threshold=0.3`)).toBe(19);
  expect(await cars(`${ofJob}?by=image`)).toBe(39);
  // Readings that tell what stands have no dismissed box.
  expect(await cars(`${ofJob}?by=image&static=exclude`)).toBe(19);
  const { result } = (await get(app, `/v1/jobs/${jobId}/result?static=include`)).body;
  expect(result.total_count).toBe(19);
  const { body } = await get(app, `${ofJob}?by=hour`);
  // The first picture has no other box.
  expect(body.total).toMatchObject({ images: 20, empty_images: 1 });
  expect(body.total.region_counts.left.car).toBeLessThan(20);
  expect(await placesOf('tag=gate')).toMatchObject([{ dismissal: id }, { dismissal: null }]);
  expect((await post(app, PATH, { ...dismissed, class: 'car' })).status).toBe(200);
  expect((await get(app, PATH)).body.dismissals).toMatchObject([{ id }]);
  expect((await get(app, `${PATH}/${id}`, {}, 'DELETE')).status).toBe(204);
  expect(await all()).toEqual(before);
  for (const unknown of [id, 'x']) {
    expect((await get(app, `${PATH}/${unknown}`, {}, 'DELETE')).body).toMatchObject({
      code: 'dismissal_not_found',
    });
  }
});

test('what is dismissed is a box of an image with a result', async () => {
  const job_id = await job('n');
  const place = { job_id, index: 0, class: 'car', box: PARKED };
  for (const [fault, code] of [
    [{ index: 99 }, 'validation_failed'],
    [{ box: [40, 10, 10, 30] }, 'validation_failed'],
    [{ job_id: 'job_none' }, 'job_not_found'],
  ] as const) {
    expect((await post(app, PATH, { ...place, ...fault })).body).toMatchObject({ code });
  }
  expect((await get(app, PATH)).body).toEqual({ dismissals: [] });
});
