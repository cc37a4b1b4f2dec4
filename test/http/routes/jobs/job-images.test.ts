/** `GET /v1/jobs/{job_id}/images` and `/summary`: what they answer, and what they refuse. */
import { describe, expect, test } from 'vitest';
import { jobImagesSchema, jobSummarySchema } from '../../../../src/http/routes/jobs/images.js';
import { ApiKeys } from '../../../../src/http/access/api-keys.js';
import { ROOT, compose, get, type Harness, submitted } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const OUTCOMES = [
  okOutcome(['car', 'car', 'bus']),
  errorOutcome('invalid_image'),
  okOutcome([]),
  okOutcome(['car']),
];

const image_paths = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg'];

async function ended(app: Harness, fields: object = {}): Promise<string> {
  const id = await submitted(app, { image_paths, ...fields });
  await app.jobs.finish(id, OUTCOMES);
  return id;
}

describe('images', () => {
  test('come page by page, with their boxes', async () => {
    const app = compose();
    const id = await ended(app);
    const first = await get(app, `/v1/jobs/${id}/images?limit=3`);
    expect(first.status).toBe(200);
    expect(jobImagesSchema.parse(first.body)).toEqual(first.body);
    expect(first.body).toMatchObject({
      images: [
        { index: 0, image_path: 'a.jpg', status: 'ok', class_counts: { car: 2, bus: 1 } },
        { index: 1, image_path: 'b.jpg', status: 'error', error: { code: 'invalid_image' } },
        { index: 2, status: 'ok', detections: [] },
      ],
      matching: 4,
      next_offset: 3,
    });
    const last = await get(app, `/v1/jobs/${id}/images?limit=3&offset=3`);
    expect(last.body).toMatchObject({ images: [{ index: 3 }], matching: 4, next_offset: null });
    const beyond = await get(app, `/v1/jobs/${id}/images?offset=9`);
    expect(beyond.body).toEqual({ images: [], matching: 4, next_offset: null });
  });

  test('are filtered by outcome and class', async () => {
    const app = compose();
    const id = await ended(app);
    const indices = async (query: string) =>
      ((await get(app, `/v1/jobs/${id}/images?${query}`)).body.images as { index: number }[]).map(
        ({ index }) => index,
      );
    expect(await indices('outcome=failed')).toEqual([1]);
    expect(await indices('outcome=empty')).toEqual([2]);
    expect(await indices('outcome=found&class=bus')).toEqual([0]);
    expect(await indices('class=car')).toEqual([0, 3]);
    expect(await indices('class=bus,truck')).toEqual([0]);
    expect(await indices(`class=${encodeURIComponent('["bus","a, b"]')}`)).toEqual([0]);
    // The bus has 0.7, the second car 0.8.
    expect(await indices('class=car&confidence_below=0.75')).toEqual([]);
    expect(await indices('class=car,bus&confidence_below=0.75')).toEqual([0]);
  });

  test('of a running job are pending until they are processed', async () => {
    const app = compose();
    const id = await submitted(app, { image_paths });
    await app.jobs.start(id);
    const { body } = await get(app, `/v1/jobs/${id}/images?limit=1`);
    expect(jobImagesSchema.parse(body)).toEqual(body);
    expect(body.images).toEqual([{ index: 0, image_path: 'a.jpg', status: 'pending' }]);
    await app.jobs.service.cancel(id, null);
    const after = await get(app, `/v1/jobs/${id}/images?outcome=not_run`);
    expect(after.body).toMatchObject({
      matching: 4,
      images: [{ error: { code: 'cancelled' } }, {}, {}, {}],
    });
  });

  test.each([
    'offset=-1',
    'offset=1000000',
    'limit=0',
    'limit=501',
    'outcome=good',
    'class=',
    'class=,',
    'class=[1]',
    'confidence_below=2',
    'confidence_below=x',
    'limit=1&limit=2',
    'other=1',
  ])('refuse %s', async (query) => {
    const app = compose();
    const { status, body } = await get(app, `/v1/jobs/${await ended(app)}/images?${query}`);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
  });
});

describe('summary', () => {
  test('has the counts of the whole job, and what was asked for', async () => {
    const app = compose();
    const id = await ended(app, { confidence_threshold: 0.3, metadata: { gate: 1 } });
    const { status, body } = await get(app, `/v1/jobs/${id}/summary`);
    expect(status).toBe(200);
    expect(jobSummarySchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      job_id: id,
      images: { found: 2, empty: 1, failed: 1, pending: 0, not_run: 0 },
      total_count: 4,
      classes: [
        { class: 'car', boxes: 3 },
        { class: 'bus', boxes: 1 },
      ],
      request: { model_name: 'yolov8n.pt', confidence_threshold: 0.3, has_callback: false },
      metadata: { gate: 1 },
    });
    expect(body.classes[0].confidence_histogram).toHaveLength(20);
    expect(body.classes[0].confidence_histogram[18]).toBe(2);
    expect(body.classes[0].confidence_histogram[16]).toBe(1);
  });

  test('counts images without a turn as pending, then as not run', async () => {
    const app = compose();
    const id = await submitted(app, { image_paths });
    const counts = async () => (await get(app, `/v1/jobs/${id}/summary`)).body.images as object;
    expect(await counts()).toEqual({ found: 0, empty: 0, failed: 0, pending: 4, not_run: 0 });
    await app.jobs.service.cancel(id, null);
    expect(await counts()).toEqual({ found: 0, empty: 0, failed: 0, pending: 0, not_run: 4 });
  });
});

test('both answer 404 for a job of another key, and name no folder of the service', async () => {
  const app = compose(
    {},
    { apiKeys: ApiKeys.parse('lat_alice_0123456789abcdef alice\nlat_bob_0123456789abcdef bob') },
  );
  const headers = { authorization: 'Bearer lat_alice_0123456789abcdef' };
  const id = await submitted(app, {}, headers);
  await app.jobs.finish(id, [errorOutcome('image_unreadable', `${ROOT}/a.jpg`)]);
  for (const route of ['images', 'summary']) {
    const other = { authorization: 'Bearer lat_bob_0123456789abcdef' };
    expect((await get(app, `/v1/jobs/${id}/${route}`, other)).status).toBe(404);
    expect(JSON.stringify((await get(app, `/v1/jobs/${id}/${route}`, headers)).body)).not.toContain(
      ROOT,
    );
  }
});

test('a job is titled by its name, else its metadata, else what was typed', async () => {
  const app = compose();
  const title = async (fields: object) =>
    (await get(app, `/v1/jobs/${await submitted(app, { image_paths, ...fields })}/status`)).body
      .title as string;
  expect(await title({})).toBe('a.jpg and 3 more');
  expect(await title({ image_paths: ['a.jpg'] })).toBe('a.jpg');
  expect(await title({ name: 'Monday', metadata: { title: 'North gate' } })).toBe('Monday');
  expect(await title({ metadata: { title: 'North gate' } })).toBe('North gate');
  expect(await title({ metadata: { title: 3, name: 'South' } })).toBe('South');
  expect(await title({ metadata: { name: '' } })).toBe('a.jpg and 3 more');
});

test('a list tells the number of jobs in each state when asked', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  await ended(app);
  await submitted(app, { image_paths });
  const { body } = await get(app, '/v1/jobs?counts=true&limit=1');
  expect(body.counts).toEqual({ pending: 1, running: 0, completed: 1, failed: 0 });
  expect((await get(app, '/v1/jobs')).body).not.toHaveProperty('counts');
});
