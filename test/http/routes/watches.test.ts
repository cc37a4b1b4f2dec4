/** Watches over HTTP: what a request may say, what the answer shows, and that a change keeps the rest. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Watch } from '../../../src/client/records.js';
import { compose, get, post, type Harness } from '../../support/composed-app.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { WatchedFolder } from '../../watches/watched-folder.js';

let folder: WatchedFolder;
let app: Harness;
beforeEach(async () => {
  folder = new WatchedFolder(true);
  await folder.open();
  const { service } = folder.jobs;
  app = compose(
    { imageRoots: [folder.root] },
    { jobs: service, watches: folder.watches, detector: new ScriptedDetector() },
  );
});
afterEach(async () => {
  app.stream.close();
  await folder[Symbol.asyncDispose]();
});

const GATE = { name: 'gate', paths: ['in'], job_type: 'batch_detect', settle_ms: 100 };
const add = (fields: object = {}) => post(app, '/v1/watches', { ...GATE, ...fields });
const change = (fields: unknown) => post(app, '/v1/watches/gate', fields, {}, 'PATCH');

test('a watch has defaults, and says what it sees and has done', async () => {
  const { status, body } = await add({ confidence_threshold: 0.4 });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    name: 'gate',
    job_type: 'batch_detect',
    confidence_threshold: 0.4,
    settle_ms: 100,
    interval_ms: 5_000,
    schedule: null,
    batch: { max_images: 100, max_wait_s: 0 },
    existing: 'take',
    paused: false,
    metadata: null,
    state: 'active',
    reason: null,
    files: { known: 0, waiting: 0, pending: 0, submitted: 0, skipped: {} },
    lag_s: null,
  });
  folder.write('in/a.jpg');
  folder.write('in/b.heic');
  await folder.expectResults(['in/a.jpg'], 0);
  const { body: watch } = (await get(app, '/v1/watches/gate')) as { body: Watch };
  expect(watch.files).toMatchObject({ known: 1, submitted: 1, succeeded: 1 });
  expect(watch.lag_s?.p50).toBeGreaterThan(0.1);
  const list = (await get(app, '/v1/jobs?watch=gate')).body;
  expect(list.jobs).toMatchObject([{ watch: 'gate', image_count: 1 }]);
  expect((await get(app, '/v1/jobs?watch=other')).body.jobs).toEqual([]);
  expect((await get(app, '/v1/watches')).body.watches).toMatchObject([{ name: 'gate' }]);
});

test('a job of a watch has the settings of the watch; digits of its metadata are kept', async () => {
  const metadata = '{"ts":1764064800123456789}';
  const text = `{"name":"gate","paths":["in"],"job_type":"batch_detect","priority":3,"settle_ms":100,"metadata":${metadata}}`;
  expect((await post(app, '/v1/watches', text)).status).toBe(201);
  expect((await change({ priority: 7, paused: null })).status).toBe(200);
  folder.write('in/a.jpg');
  await folder.expectResults(['in/a.jpg'], 0);
  const { jobs } = await folder.jobs.service.list({}, { limit: 1, cursor: null });
  expect(jobs[0]?.spec).toMatchObject({ priority: 7, metadata, jobType: 'batch_detect' });
});

test('a change keeps what it does not name; null gives the default', async () => {
  await add({ classes: ['car'], batch: { max_images: 5 }, existing: 'leave' });
  const schedule = [{ from: '22:00', to: '06:00', days: ['fri'] }];
  const { body } = await change({ schedule, classes: null, interval_ms: 700 });
  expect(body).toMatchObject({ schedule, interval_ms: 700, existing: 'leave' });
  expect(body.batch).toEqual({ max_images: 5, max_wait_s: 0 });
  expect(body.classes).toBeUndefined();
  expect((await change({ schedule: null, paused: true })).body).toMatchObject({
    schedule: null,
    state: 'paused',
  });
});

test.each<[string, object, string]>([
  ['a path outside of the folders', { paths: ['../x'] }, '#/paths/0'],
  ['a costly glob', { paths: ['in', '*/*/*/*/*/*/*/*/*/*.jpg'] }, '#/paths/1'],
  ['no path', { paths: [] }, '#/paths'],
  ['a wrong name', { name: '-x' }, '#/name'],
  ['a time that is none', { schedule: [{ from: '24:00', to: '06:00' }] }, '#/schedule/0/from'],
  [
    'a day that is none',
    { schedule: [{ from: '22:00', to: '06:00', days: ['so'] }] },
    '#/schedule/0/days/0',
  ],
  ['a class that the model has not', { classes: ['giraffe'] }, '#/classes/0'],
  ['image_paths', { image_paths: ['a.jpg'] }, '#/image_paths'],
  ['a settle time of a day', { settle_ms: 86_400_000 }, '#/settle_ms'],
])('%s is refused', async (_what, fields, pointer) => {
  const { status, body } = await add(fields);
  expect(status).toBe(422);
  expect(body.errors[0].pointer).toBe(pointer);
});

test('names are taken once, and what is not there is not found', async () => {
  await add();
  expect(await add()).toMatchObject({ status: 409, body: { code: 'watch_exists' } });
  expect((await get(app, '/v1/watches/gate', {}, 'DELETE')).status).toBe(204);
  for (const answer of [await get(app, '/v1/watches/gate'), await change({ paused: true })]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'watch_not_found' } });
  }
  expect((await add()).status).toBe(201);
});

test('a folder that is not there is said, and found when it comes', async () => {
  folder.rename('in', 'elsewhere');
  const { body } = await add({ interval_ms: 500 });
  expect(body).toMatchObject({ state: 'away' });
  expect(body.reason).toContain("'in'");
  folder.rename('elsewhere', 'in');
  folder.write('in/a.jpg');
  await folder.expectResults(['in/a.jpg'], 0);
});
