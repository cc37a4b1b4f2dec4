/** Places over HTTP, and what their dismissal takes out of counts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Detection } from '../../../src/api/schemas/image.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../../jobs/job-folder.js';
import type { Region } from '../../../src/api/region-rules.js';
import { compose, get, post, ROOT, type Harness } from '../../support/composed-app.js';
import { parkedCar } from '../../support/parked-car.js';
import { regionBetween } from '../../support/region-between.js';
import { SeeingDetector } from '../../support/seeing-detector.js';

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;
let found: (path: string) => Detection[];
/** The minute at which the parked car leaves. */
let leaves: number;
beforeEach(async () => {
  folder = new TemporaryFolder();
  const detector = new SeeingDetector();
  found = foundIn;
  leaves = Infinity;
  detector.found = (path) => found(path);
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
    ...(minute < leaves ? [PARKED_CAR] : []),
  ];
}

const PARKED_CAR: Detection = { box: PARKED, confidence: 0.8, class: 'car' };

async function jobOf(image_paths: string[], fields: object = {}): Promise<string> {
  const body = { job_type: 'detect_vehicles', image_paths, tags: ['Gate'], ...fields };
  const accepted = await post(app, '/v1/jobs/submit', body);
  await ended(jobs.service, accepted.body.job_id as string);
  return accepted.body.job_id as string;
}

const job = (camera: string, fields: object = {}): Promise<string> =>
  jobOf(
    minutes.map((minute) => pathOf(camera, minute)),
    fields,
  );

const PATH = '/v1/places/dismissals';

async function placesOf(query: string) {
  const { status, body } = await get(app, `/v1/places?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.places as {
    camera: string;
    regions: string[];
    stays: { since: string }[];
    older_stays: number;
    best_image: { job_id: string; index: number };
  }[];
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

const bay = (number: number, more: Partial<Region> = {}) =>
  regionBetween(`bay ${number}`, number * 0.3, number * 0.3 + 0.3, more);

test('a place is in the regions of its best box, by the question of its picture', async () => {
  const trucks = regionBetween('trucks', 0, 1, { classes: ['truck'] });
  await job('n', { regions: [bay(0), bay(0, { name: 'all; of it' }), bay(2), trucks] });
  await job('s');
  const regionsOf = async (query: string) =>
    (await placesOf(`tag=gate${query}`)).map(({ camera, regions }) => [camera, regions]);
  expect(await regionsOf('')).toEqual([
    ['n', ['bay 0', 'all; of it']],
    ['s', []],
  ]);
  expect(await regionsOf('&region=bay+0')).toEqual([['n', ['bay 0', 'all; of it']]]);
  expect(await regionsOf('&region=bay+2')).toEqual([]);
  expect(await regionsOf('&region=none')).toEqual([]);
  const asked = (...regions: Region[]) => `&regions=${encodeURIComponent(JSON.stringify(regions))}`;
  expect(await regionsOf(asked(bay(0), bay(1), bay(2)))).toEqual([
    ['n', ['bay 0']],
    ['s', ['bay 0']],
  ]);
  expect(await regionsOf(`${asked(bay(1))}&region=bay+1`)).toEqual([]);
  // A mask leaves out all that lies in it.
  expect(await regionsOf(asked(bay(0, { ignore: true })))).toEqual([]);
  const put = { regions: [bay(1), bay(0)], paths: [] };
  expect((await post(app, '/v1/views/lot', put, {}, 'PUT')).status).toBe(201);
  expect(await regionsOf('&view=lot&region=bay+0')).toEqual([
    ['n', ['bay 0']],
    ['s', ['bay 0']],
  ]);
  const file = await get(app, '/v1/places?tag=gate&format=csv');
  expect((file.body as string).split('\r\n')[1]).toMatch(
    /^n,1,"\[""bay 0"",""all; of it""\]",car,/,
  );
});

test('places that are occupied, and those that are not', async () => {
  leaves = 30;
  await job('n');
  leaves = 60;
  await job('s');
  const camerasOf = async (query: string) =>
    (await placesOf(`tag=gate${query}`)).map(({ camera }) => camera);
  expect(await camerasOf('')).toEqual(['n', 's']);
  expect(await camerasOf('&occupied=true')).toEqual(['s']);
  expect(await camerasOf('&occupied=false')).toEqual(['n']);
  for (const query of ['occupied=yes', 'region=', 'region=a&region=b', 'format=xml']) {
    const { body } = await get(app, `/v1/places?tag=gate&${query}`);
    expect(body, query).toMatchObject({ code: 'validation_failed' });
  }
});

test('a CSV file has a line for each stay', async () => {
  const jobId = await job('n', { regions: [bay(0)] });
  leaves = 30;
  await job('=s');
  const answer = await get(app, '/v1/places?tag=gate&format=csv');
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="tag.places.csv"');
  const [header, ...lines] = (answer.body as string).split('\r\n');
  expect(header).toBe(
    'camera,place,regions,class,since,last_seen,duration_s,goes_on,images,job_id,index,best_image',
  );
  expect(lines).toEqual([
    `n,1,bay 0,car,2025-11-26T14:00:00,2025-11-26T14:38:00,2280,true,20,${jobId},0,n/20251126_140000.jpg`,
    expect.stringMatching(
      /^'=s,1,,car,2025-11-26T14:00:00,2025-11-26T14:28:00,1680,false,15,job_[\w-]+,0,'=s\/\d+_140000.jpg$/,
    ),
    '',
  ]);
});

test('a file has also the stays that an answer does not list', async () => {
  const paths = Array.from({ length: 25 * 14 }, (_, at) => {
    const time = new Date(Date.UTC(2025, 10, 26) + at * 120_000).toISOString();
    return `n/${time.slice(0, 19).replaceAll(':', '.')}.jpg`;
  });
  // Six pictures of a vehicle, and eight of none.
  found = (path) => (paths.indexOf(path) % 14 < 6 ? [PARKED_CAR] : []);
  await jobOf(paths);
  const [place] = await placesOf('tag=gate');
  expect(place!.stays.length + place!.older_stays).toBe(25);
  expect(place!.stays).toHaveLength(20);
  const lines = ((await get(app, '/v1/places?tag=gate&format=csv')).body as string).split('\r\n');
  expect(lines).toHaveLength(1 + 25 + 1);
  expect(lines[6]!.split(',')[4]).toBe(place!.stays[0]!.since);
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

const NAMED = `&camera=name&camera_pattern=${encodeURIComponent('{camera}_*.jpg')}`;

/** Cameras that write into one folder, and pictures whose names say none. */
function sharedFolder(): Promise<string> {
  const times = minutes.map((minute) => pathOf('', minute).slice(1).replace('_', '-'));
  const paths = ['east_', 'west_', ''].flatMap((name) =>
    times.map((time) => `park/${name}${time}`),
  );
  found = (path) => (path.includes('st_') ? [PARKED_CAR] : []);
  return jobOf(paths);
}

test('names of files tell the camera by a pattern, for places, events, results and dismissals', async () => {
  const jobId = await sharedFolder();
  expect((await placesOf('tag=gate')).map(({ camera }) => camera)).toEqual(['park']);
  const places = await placesOf(`tag=gate${NAMED}`);
  expect(places.map(({ camera }) => camera)).toEqual(['park/east', 'park/west']);
  const events = `/v1/counts?tag=gate&by=event&event_gap_s=600${NAMED}`;
  const { groups } = (await get(app, events)).body as { groups: { camera: string }[] };
  expect(groups.map(({ camera }) => camera)).toEqual(['park', 'park/east', 'park/west']);
  const result = `/v1/jobs/${jobId}/result?static=only`;
  expect((await get(app, `${result}${NAMED}`)).body.result.total_count).toBe(40);

  const { job_id, index } = places[1]!.best_image;
  const place = { job_id, index, class: 'car', box: PARKED, camera_pattern: '{camera}_*.jpg' };
  const made = await post(app, PATH, place);
  expect(made).toMatchObject({
    status: 201,
    body: { camera: 'park/west', camera_pattern: '{camera}_*.jpg' },
  });
  const { id } = made.body as { id: number };
  expect(await post(app, PATH, place)).toMatchObject({ status: 200, body: { id } });
  expect(await placesOf(`tag=gate${NAMED}`)).toMatchObject([
    { dismissal: null },
    { dismissal: id },
  ]);
  const readings = ['by=hour', 'by=folder', `by=hour&static=only${NAMED}`, `by=event${NAMED}`];
  for (const query of readings) {
    expect(await cars(`/v1/counts?tag=gate&${query}`), query).toBe(20);
  }
  const wide = await post(app, PATH, { ...place, camera_pattern: null });
  expect(wide).toMatchObject({ status: 201, body: { camera: 'park', camera_pattern: null } });
  expect(await cars('/v1/counts?tag=gate&by=hour')).toBe(0);
  expect(await post(app, PATH, { ...place, index: 40 })).toMatchObject({
    status: 422,
    body: { code: 'validation_failed', detail: expect.stringContaining('does not fit') as string },
  });
  for (const fault of [
    '*.jpg',
    '{camera}*.jpg',
    'park/{camera}.jpg',
    `{camera}${'_'.repeat(200)}`,
  ]) {
    const { body } = await get(app, `/v1/places?tag=gate&camera=name&camera_pattern=${fault}`);
    expect(body, fault).toMatchObject({ code: 'validation_failed' });
    const refused = await post(app, PATH, { ...place, camera_pattern: fault });
    expect(refused.body, fault).toMatchObject({ code: 'validation_failed' });
  }
  for (const [query, detail] of [
    ['places?tag=gate&camera=name', 'needs camera_pattern'],
    ['places?tag=gate&camera_pattern={camera}_*', 'needs camera=name'],
    ['counts?tag=gate&by=event&camera=all&camera_pattern={camera}_*', 'needs camera=name'],
    [`counts?tag=gate&by=hour${NAMED}`, 'camera needs by=event'],
    [`jobs/${jobId}/result?camera_pattern={camera}_*`, 'camera needs static'],
  ]) {
    const { body } = await get(app, `/v1/${query}`);
    expect(body, query).toMatchObject({ code: 'validation_failed' });
    expect(JSON.stringify(body), query).toContain(detail);
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
