/** How well two jobs over the same images agree, over HTTP on a real store. */
import { expect, test } from 'vitest';
import type { Detection } from '../../../../src/api/schemas/image.js';
import { ApiKeys } from '../../../../src/http/access/api-keys.js';
import type { JobAgreementBody } from '../../../../src/http/routes/jobs/agreement.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import { compose, get, submitted, type Harness } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const box = (name: string, x: number, confidence = 0.8): Detection => ({
  class: name,
  confidence,
  box: [x, 0, x + 100, 100],
});
const found = (...detections: Detection[]): ImageOutcome =>
  ({ ...okOutcome([]), detections }) as ImageOutcome;

async function run(
  app: Harness,
  images: Readonly<Record<string, ImageOutcome>>,
  more: object = {},
): Promise<string> {
  const jobId = await submitted(app, { image_paths: Object.keys(images), ...more });
  await app.jobs.finish(jobId, Object.values(images));
  return jobId;
}

const agreement = async (app: Harness, jobId: string, other: string) =>
  get(app, `/v1/jobs/${jobId}/agreement?with=${other}`);

test('boxes are counted by class and size over all images, and those that agree least are named', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const first = await run(app, {
    'same.jpg': found(box('car', 0, 0.8)),
    'worst.jpg': found(box('car', 0), box('bus', 300)),
    'empty.jpg': found(),
    'broken.jpg': errorOutcome('invalid_image'),
    'old.jpg': found(),
  });
  const second = await run(app, {
    'worst.jpg': found(box('truck', 0), box('car', 600)),
    'broken.jpg': found(box('car', 0)),
    'empty.jpg': found(),
    'same.jpg': found(box('car', 0, 0.7)),
  });
  const { status, body } = await agreement(app, first, second);
  expect(status).toBe(200);
  const report = body as JobAgreementBody;
  expect(report).toMatchObject({
    ...{ job_id: first, with: { job_id: second }, complete: true },
    image_counts: { compared: 3, failed: 1, only_here: 1, only_there: 0, unread: 0 },
    all: { first: 3, second: 3, matched: 2, flipped: 1, lost: 1, gained: 1 },
    share: 0.333333,
    least: [{ image_path: 'worst.jpg', index: 1, with_index: 0, share: 0 }],
    ...{ first_ms: 10, second_ms: 10 },
  });
  expect(report.least[0]).toMatchObject({ lost: 1, gained: 1, flipped: 1 });
  expect(report.all.score_shift).toBeCloseTo(-0.05);
  // `first` and `second` are the counts of the jobs: the second one has a truck where the first has a car.
  const rows = report.by_class.map((row) => [row.of, row.first, row.second, row.lost, row.gained]);
  expect(rows).toEqual([
    ['car', 2, 2, 0, 1],
    ['truck', 0, 1, 0, 0],
    ['bus', 1, 0, 1, 0],
  ]);
  expect(report.by_size.map(({ first: boxes }) => boxes)).toEqual([0, 0, 3]);
});

test('jobs without boxes agree in full, with no times', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const [first, second] = [
    await run(app, { 'a.jpg': found() }),
    await run(app, { 'a.jpg': found() }),
  ];
  expect((await agreement(app, first, second)).body).toMatchObject({
    ...{ share: 1, least: [], by_class: [], first_ms: null, second_ms: null },
    image_counts: { compared: 1 },
  });
});

test('of jobs with different thresholds only boxes above the higher one count', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const low = await run(
    app,
    { 'a.jpg': found(box('car', 0, 0.9), box('car', 300, 0.4), box('car', 600, 0.45)) },
    { confidence_threshold: 0.3 },
  );
  const high = await run(
    app,
    { 'a.jpg': found(box('car', 0, 0.9), box('car', 300, 0.6)) },
    { confidence_threshold: 0.5 },
  );
  expect((await agreement(app, low, high)).body).toMatchObject({
    share: 1,
    all: { first: 2, second: 2, lost: 0 },
  });
});

test('a job that does not exist, and none that is named, are refused', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const first = await run(app, { 'a.jpg': found() });
  const missing = await agreement(app, first, 'job_none');
  expect(missing).toMatchObject({
    status: 404,
    body: { code: 'job_not_found', detail: "No job has the id that 'with' names." },
  });
  expect((await agreement(app, 'job_none', first)).body.code).toBe('job_not_found');
  const { status, body } = await get(app, `/v1/jobs/${first}/agreement`);
  expect([status, body.code]).toEqual([422, 'validation_failed']);
});

test('both jobs have to be of the key that asks', async () => {
  await using jobs = await HeldJobs.open();
  const [alice, bob] = ['lat_alice_0123456789abcdef', 'lat_bob_0123456789abcdef'];
  const app = compose({}, { apiKeys: ApiKeys.parse(`${alice} alice\n${bob} bob`) }, jobs);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const own = await submitted(app, {}, as(alice));
  const foreign = await submitted(app, {}, as(bob));
  for (const path of [`${own}/agreement?with=${foreign}`, `${foreign}/agreement?with=${own}`]) {
    expect((await get(app, `/v1/jobs/${path}`, as(alice))).body.code).toBe('job_not_found');
  }
});
