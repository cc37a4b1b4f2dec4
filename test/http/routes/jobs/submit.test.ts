import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { LatticeError } from '../../../../src/api/errors.js';
import { NO_LABELS } from '../../../../src/api/job-labels.js';
import { compose, post, ROOT, type Answer } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { DEFAULT_PARAMETERS, DEFAULT_VEHICLES } from '../../../../src/api/options.js';

const PATH = '/v1/jobs/submit';
const cars = { job_type: 'detect_cars', image_paths: ['a.jpg'] };

/** Classes that the accepted job looks for. */
async function classesOf({ status, body }: Answer): Promise<readonly string[] | null> {
  expect(status).toBe(202);
  return (await compose().jobs.specOf(body.job_id as string)).options.classes;
}

test('the smallest submission is accepted with its defaults', async () => {
  const app = compose();
  const { status, body, headers } = await post(app, PATH, cars);
  expect(status).toBe(202);
  expect(body).toEqual({
    job_id: expect.any(String),
    status: 'pending',
    message: expect.any(String),
  });
  expect(headers.get('location')).toBe(`/v1/jobs/${body.job_id}/status`);
  expect(await app.jobs.specOf(body.job_id as string)).toEqual({
    jobType: 'detect_cars',
    imagePaths: ['a.jpg'],
    options: {
      ...DEFAULT_PARAMETERS,
      modelName: 'yolov8n.pt',
      confidence: 0.5,
      iou: 0.7,
      maxDetections: 300,
      classes: ['car'],
    },
    priority: 0,
    callbackUrl: null,
    metadata: null,
    annotate: false,
    places: false,
    scoreFloor: 1,
    reuse: 'off',
    keyId: null,
    labels: NO_LABELS,
    typed: { paths: ['a.jpg'], count: 1 },
    leftOut: {},
    origin: { requestId: headers.get('x-request-id') },
  });
});

test('every field arrives, metadata as the submitted text', async () => {
  const app = compose();
  const metadata = { camera: 'north', nested: { list: [1, null, 'é'] } };
  const { status, body } = await post(app, PATH, {
    job_type: 'detect_vehicles',
    image_paths: ['a.jpg', `${ROOT}/b.png`, 'a.jpg'],
    model_name: 'yolov8n.pt',
    confidence_threshold: 0.25,
    vehicle_types: ['CAR', 'truck', 'car'],
    priority: 10,
    callback_url: 'http://example.org:8080/hook?x=1',
    metadata,
    iou_threshold: 0.6,
    max_detections: 1,
    annotate: true,
    reuse: 'content',
  });
  expect(status).toBe(202);
  expect(await app.jobs.specOf(body.job_id as string)).toMatchObject({
    imagePaths: ['a.jpg', `${ROOT}/b.png`, 'a.jpg'],
    options: { confidence: 0.25, classes: ['Car', 'truck'], iou: 0.6, maxDetections: 1 },
    priority: 10,
    callbackUrl: 'http://example.org:8080/hook?x=1',
    metadata: JSON.stringify(metadata),
    annotate: true,
    reuse: 'content',
  });
});

test('reuse is one of its modes', async () => {
  const answer = await post(compose(), PATH, { ...cars, reuse: 'always' });
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/reuse' }] } });
});

test('the answer says how many images the job has, and what its folders left out', async () => {
  const root = mkdtempSync(join(tmpdir(), 'lattice-left-out-'));
  for (const name of ['a.jpg', 'b.jfif', 'c.HEIC', 'd.heic', 'e.gif', 'notes.txt']) {
    writeFileSync(join(root, name), '');
  }
  const message = async (...paths: string[]) => {
    const answer = await post(compose({ imageRoots: [root] }), PATH, {
      ...cars,
      image_paths: paths,
    });
    return answer.body.message as string;
  };
  expect(await message('.')).toBe('Job accepted with 2 images; left out: 2 .heic, 1 .gif.');
  expect(await message('*.{jpg,gif}')).toBe('Job accepted with 1 image; left out: 1 .gif.');
  expect(await message('*.j*', 'c.HEIC')).toBe('Job accepted with 3 images.');
  rmSync(root, { recursive: true });
});

test('literal paths are files, whatever they look like; those that are refused are named', async () => {
  const app = compose();
  const image_paths = ['*', 'no-folder/', '[a]{b}?.jpg', `${ROOT}/**`];
  const { status, body } = await post(app, PATH, { ...cars, image_paths, literal_paths: true });
  expect(status).toBe(202);
  expect(await app.jobs.specOf(body.job_id as string)).toMatchObject({ imagePaths: image_paths });
  const refused = { ...cars, image_paths: ['/b', 'a', '../a'], literal_paths: true };
  expect(await post(app, PATH, refused)).toMatchObject({
    body: { code: 'path_not_allowed' },
  });
  const pointers = (await post(app, PATH, refused)).body.errors as { pointer: string }[];
  expect(pointers.map(({ pointer }) => pointer)).toEqual(['#/image_paths/0', '#/image_paths/2']);
});

test.each([
  ['detect_cars', ['car']],
  ['detect_vehicles', [...DEFAULT_VEHICLES]],
  ['batch_detect', null],
])('%s looks for %j', async (job_type, classes) => {
  expect(await classesOf(await post(compose(), PATH, { ...cars, job_type }))).toEqual(classes);
});

test('vehicle_types counts for detect_vehicles only', async () => {
  const answer = await post(compose(), PATH, { ...cars, vehicle_types: ['bus'] });
  expect(await classesOf(answer)).toEqual(['car']);
});

test.each([
  ['detect_vehicles', { classes: ['PERSON', 'car'] }, ['person', 'Car']],
  ['detect_vehicles', { vehicle_types: ['person'] }, ['person']],
  ['detect_vehicles', { classes: ['*'] }, null],
  ['batch_detect', { classes: ['person'] }, ['person']],
  ['batch_detect', { vehicle_types: ['bus'] }, null],
])('%s of %j looks for %j', async (job_type, fields, classes) => {
  const answer = await post(compose(), PATH, { ...cars, job_type, ...fields });
  expect(await classesOf(answer)).toEqual(classes);
});

test('a detect_cars job takes no classes, and no model without cars', async () => {
  const app = compose();
  const other = await post(app, PATH, { ...cars, classes: ['bus'] });
  expect(other).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/classes' }] } });
  app.detector.classes = ['car_ahead', 'stop_sign'];
  const without = await post(compose({}, { detector: app.detector }), PATH, cars);
  expect(without).toMatchObject({
    status: 422,
    body: { code: 'validation_failed', errors: [{ pointer: '#/job_type' }] },
  });
  expect(without.body.detail).toBe(
    "yolov8n.pt has no class 'car'. Its classes: car_ahead, stop_sign. " +
      'Send detect_vehicles or batch_detect instead of detect_cars.',
  );
  app.detector.classes = [];
  const unknown = compose({}, { detector: app.detector });
  expect(await post(unknown, PATH, cars)).toMatchObject({ status: 202 });
});

describe('models', () => {
  test('an unknown model is refused with the list of models', async () => {
    const { status, body } = await post(compose(), PATH, { ...cars, model_name: 'yolov8x.pt' });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'unknown_model',
      detail: expect.stringContaining('yolov8n.pt'),
    });
  });

  test('a model that cannot be used is refused with the reason', async () => {
    const { body } = await post(compose(), PATH, { ...cars, model_name: 'broken.pt' });
    expect(body).toMatchObject({ code: 'invalid_model', detail: 'The file is damaged.' });
  });

  test('a class that the model lacks is refused, naming those it has', async () => {
    const { body } = await post(compose(), PATH, {
      ...cars,
      job_type: 'detect_vehicles',
      vehicle_types: ['car', 'boat'],
    });
    expect(body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/vehicle_types/1', detail: expect.stringContaining('bicycle, Car') }],
    });
  });
});

describe('Idempotency-Key', () => {
  const key = { 'idempotency-key': '"k-1"' };

  test('a repeat gives the first job, whatever its key order, spaces and nulls', async () => {
    await using jobs = await HeldJobs.open();
    const app = compose({}, {}, jobs);
    const first = await post(app, PATH, cars, key);
    const again = await post(app, PATH, ' {"image_paths":["a.jpg"], "job_type":"detect_cars"}', {
      'idempotency-key': 'k-1',
    });
    expect(again.status).toBe(202);
    expect(again.body.job_id).toBe(first.body.job_id);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const withNull = await post(app, PATH, { ...cars, priority: null }, key);
    expect(withNull.body.job_id).toBe(first.body.job_id);
    expect(await jobs.jobs()).toHaveLength(1);
  });

  test('a repeat gives the first job although its files were removed', async () => {
    await using jobs = await HeldJobs.open();
    const folder = mkdtempSync(join(tmpdir(), 'lattice-repeat-'));
    writeFileSync(join(folder, 'a.jpg'), '');
    const app = compose({ imageRoots: [folder] }, {}, jobs);
    const all = { ...cars, image_paths: ['*.jpg'] };
    const first = await post(app, PATH, all, key);
    expect(first.status).toBe(202);
    rmSync(folder, { recursive: true });
    const again = await post(app, PATH, all, key);
    expect(again).toMatchObject({ status: 202, body: { job_id: first.body.job_id } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await post(app, PATH, all)).toMatchObject({ status: 422 });
    expect(await post(app, PATH, { ...all, priority: 1 }, key)).toMatchObject({
      body: { code: 'validation_failed' },
    });
  });

  test('the same key with another body is refused', async () => {
    const app = compose();
    const key = { 'idempotency-key': 'k-2' };
    await post(app, PATH, cars, key);
    expect(await post(app, PATH, { ...cars, priority: 1 }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });

  test.each([['""'], ['k'.repeat(256)], ['ké']])('key %j is refused', async (value) => {
    const answer = await post(compose(), PATH, cars, { 'idempotency-key': value });
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  });

  test('a key of 255 characters is accepted', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(255) };
    expect(await post(compose(), PATH, cars, headers)).toMatchObject({ status: 202 });
  });
});

test.each([
  ['queue_full', 429],
  ['storage_unavailable', 503],
] as const)('%s is answered %d and says when to come back', async (code, status) => {
  const app = compose();
  const refusal = new LatticeError(code, 'Not now.', { retryAfterS: 6.2 });
  vi.spyOn(app.jobs.service, 'submit').mockRejectedValueOnce(refusal);
  const answer = await post(app, PATH, cars);
  expect(answer).toMatchObject({ status, body: { code } });
  expect(answer.headers.get('retry-after')).toBe('7');
});

test('a stopping service takes no job', async () => {
  const app = compose();
  app.state.draining = true;
  const answer = await post(app, PATH, cars);
  expect(answer).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
  expect(answer.headers.get('retry-after')).toBe('1');
});
