/** Results and counts of a job in which a vehicle stands. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JobResult } from '../../../../src/client/records.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../../../jobs/job-folder.js';
import { detectionsOf, pathOf, SCENES, sequenceOf, SIZE } from '../../../support/camera-stills.js';
import { compose, get, post, ROOT, type Harness } from '../../../support/composed-app.js';
import { parkedCar } from '../../../support/parked-car.js';
import { regionBetween } from '../../../support/region-between.js';
import { SeeingDetector } from '../../../support/seeing-detector.js';

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;
let id: string;
let detector: SeeingDetector;
beforeEach(async () => {
  folder = new TemporaryFolder();
  detector = new SeeingDetector();
  detector.found = parkedCar.found;
  jobs = await openTestJobs(folder, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
  // The last image comes first, and one has no time.
  const paths = parkedCar.minutes.map((minute) => parkedCar.path('north', minute)).reverse();
  const body = { job_type: 'detect_vehicles', image_paths: [...paths, 'north/late.jpg'] };
  const accepted = await post(app, '/v1/jobs/submit', body);
  id = accepted.body.job_id as string;
  await ended(jobs.service, id);
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const PARKED = [10, 10, 40, 30];
const STAY = { since: '2025-11-26T14:00:00', last_seen: '2025-11-26T14:38:00' };

async function images(query: string) {
  const { status, body } = await get(app, `/v1/jobs/${id}/result?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (
    (body as JobResult).result as {
      images: { detections: { box: number[]; static: unknown; stay?: object }[] }[];
    }
  ).images;
}

async function textOf(path: string): Promise<string> {
  const answer = await app.app.request(`/v1/jobs/${id}/${path}`);
  expect(answer.status, path).toBe(200);
  return answer.text();
}

test('each box of a result tells whether its vehicle stands, and since when', async () => {
  const all = await images('static=include');
  const last = all.pop()!;
  expect(last.detections.map((box) => box.static)).toEqual(['unknown']);
  // The car that drives past may yet stay where it is in the latest ones, which come first.
  for (const { detections } of all.slice(5)) {
    for (const { box, static: isStatic, stay } of detections) {
      const isParked = JSON.stringify(box) === JSON.stringify(PARKED);
      expect(isStatic).toBe(isParked ? 'yes' : 'no');
      if (isParked) expect(stay).toMatchObject(STAY);
      else expect(stay).toBeUndefined();
    }
  }
  expect(all[0]?.detections.map((box) => box.static)).toEqual(['unknown', 'yes']);
});

test('vehicles that stand are left out of a result, or alone in it, also of another question', async () => {
  const boxes = async (query: string) =>
    (await images(query)).flatMap(({ detections }) => detections.map(({ box }) => box));
  const excluded = await boxes('static=exclude');
  expect(excluded).toHaveLength(21);
  expect(excluded).not.toContainEqual(PARKED);
  expect(await boxes('static=only')).toEqual(Array.from({ length: 16 }, () => PARKED));
  expect(await boxes('static=only&confidence_threshold=0.3&camera=all')).toHaveLength(20);
  // Without the parameter nothing is said of it.
  const [first] = await images('format=json');
  expect(first?.detections[0]).not.toHaveProperty('static');
});

test('totals, counts by image and regions are of the boxes that are chosen', async () => {
  const { body } = await get(app, `/v1/jobs/${id}/result?static=only`);
  expect((body as JobResult).result).toMatchObject({ total_count: 16, car_count: 16 });
  const counts = await get(app, `/v1/jobs/${id}/counts?by=image&static=exclude`);
  expect(counts.body.total).toMatchObject({ images: 21, detections: 21 });
  // The parked car lies in it, and the other one at first.
  const region = JSON.stringify([regionBetween('left', 0, 0.5)]);
  const query = `by=image&static=only&regions=${encodeURIComponent(region)}`;
  const inside = await get(app, `/v1/jobs/${id}/counts?${query}`);
  expect(inside.body.total).toMatchObject({ region_counts: { left: { car: 16 } } });
});

test('a result and counts choose the same boxes, those of vehicles that are half hidden at times too', async () => {
  const { stills } = sequenceOf(SCENES[0]!);
  const found = new Map(stills.map((still) => [pathOf('park', still), detectionsOf(still)]));
  detector.image = SIZE;
  detector.found = (path) => found.get(path) ?? [];
  const body = { job_type: 'detect_vehicles', image_paths: [...found.keys()] };
  id = (await post(app, '/v1/jobs/submit', body)).body.job_id as string;
  await ended(jobs.service, id);
  for (const choice of ['only', 'exclude']) {
    const boxes = (await images(`static=${choice}`)).flatMap(({ detections }) => detections);
    const counts = await get(app, `/v1/jobs/${id}/counts?by=hour&static=${choice}`);
    expect(boxes.length).toBeGreaterThan(300);
    expect([choice, boxes.length]).toEqual([choice, counts.body.total.detections]);
    if (choice === 'only') expect(boxes.every(({ stay }) => stay !== undefined)).toBe(true);
  }
});

test('exports have the chosen boxes, and a table says what is known of them', async () => {
  const [header = '', line = '', ...others] = (await textOf('result?format=csv&static=only')).split(
    '\r\n',
  );
  expect(header).toMatch(/,precision,latitude,longitude,static,place,since,last_seen$/);
  expect(line).toMatch(/,yes,\d+,2025-11-26T14:00:00,2025-11-26T14:38:00$/);
  expect(others).toHaveLength(16);
  const { annotations } = JSON.parse(await textOf('result?format=coco&static=include')) as {
    annotations: { static: unknown; stay?: object }[];
  };
  expect(annotations.filter(({ static: isStatic }) => isStatic === 'yes')).toHaveLength(16);
  expect(annotations.find(({ stay }) => stay)?.stay).toMatchObject(STAY);
  expect(await textOf('result?format=labelstudio&static=only')).toContain(
    'stands since 2025-11-26T14:00:00',
  );
  expect(await textOf('result?format=csv')).toMatch(/,precision,latitude,longitude\r\n/);
});

test.each([
  ['static=maybe', 'static is one of include, exclude, only.'],
  ['camera=all', 'camera needs static.'],
  ['static=only&camera=gate', 'camera is one of folder, all, name.'],
])('%s is refused', async (query, detail) => {
  const { status, body } = await get(app, `/v1/jobs/${id}/result?${query}`);
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(detail)]);
});
