/** `lattice places` against a service whose detector sees a parked car. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../jobs/job-folder.js';
import { compose, post, ROOT, submitted } from '../support/composed-app.js';
import { parkedCar } from '../support/parked-car.js';
import { regionBetween } from '../support/region-between.js';
import { SeeingDetector } from '../support/seeing-detector.js';
import { run, type CliRun } from './run.js';

const data = new TemporaryFolder();
let jobs: TestJobs;
let server: Listening;
let jobId: string;

beforeAll(async () => {
  const detector = new SeeingDetector();
  detector.found = parkedCar.found;
  jobs = await openTestJobs(data, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  const app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  vi.stubEnv('LATTICE_CORE_API_URL', server.url);
  const image_paths = parkedCar.minutes.map((minute) => parkedCar.path('gate', minute));
  const regions = [regionBetween('bay 3', 0, 0.4), regionBetween('bay 4', 0.6, 1)];
  const fields = { job_type: 'detect_vehicles', image_paths, tags: ['Monday'], regions };
  jobId = await submitted(app, fields);
  await ended(jobs.service, jobId);
  const place = { job_id: jobId, index: 1, class: 'car', box: [10, 10, 40, 30] };
  expect((await post(app, '/v1/places/dismissals', place)).status).toBe(201);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
  data[Symbol.dispose]();
});

const places = (...args: string[]): Promise<CliRun> => run('places', '--tag', 'monday', ...args);

test('a table has a line for each place', async () => {
  const { out, err, code } = await places();
  expect({ err, code }).toEqual({ err: '', code: 0 });
  const [head, line, ...more] = out.split('\n').map((text) => text.split(/ {2,}/));
  expect(head?.join()).toBe(
    'CAMERA,PLACE,REGIONS,CLASS,STAYS,SINCE,LAST SEEN,OCCUPIED,DISMISSED,BEST IMAGE',
  );
  expect(line?.join()).toMatch(
    /^gate,\d+,bay 3,car,1,2025-11-26T14:00:00,2025-11-26T14:38:00,yes,yes,gate\/20251126_140200.jpg$/,
  );
  expect(more).toEqual([['']]);
});

test.each([
  [['--region', 'bay 3', '--occupied'], 1],
  [['--region', 'bay 4'], 0],
  [['--no-occupied'], 0],
  [['--from', '2025-11-26T15:00'], 0],
  [['--confidence', '0.85'], 0],
  [['--camera', 'all', '--regions', '[]'], 1],
  [['--camera', 'name', '--camera-pattern', '{camera}_*.jpg'], 1],
])('%j gives %d place(s)', async (flags, count) => {
  const { out, code } = await places(...flags, '--json');
  expect(code).toBe(0);
  const answer = JSON.parse(out) as { places: unknown[]; tag: string };
  expect(answer).toMatchObject({ tag: 'monday', places: { length: count } });
  if (count === 0) expect((await places(...flags)).out).toBe('No places.\n');
});

test('a file has a line for each stay', async () => {
  const { out } = await places('--format', 'csv');
  expect(out).toMatch(/^camera,place,regions,[^]*\r\ngate,\d+,bay 3,car,[^\r]*,2280,true,20,/);
});

test('a wrong command line is said', async () => {
  expect(await places('-o', 'stays.csv')).toMatchObject({ code: 2 });
  expect(await places('--format', 'csv', '--json')).toMatchObject({ code: 2 });
  const all = await run('places');
  expect(all).toMatchObject({ code: 1, err: expect.stringContaining('watch or tag') as string });
});
