/** A model of the user's own, with classes of its own, by every way there is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { offeredClasses, usableModels } from '../../src/ui/models/offered-classes.js';
import { detectFields } from '../../src/ui/detect/detect-request.js';
import { jobRequest } from '../../src/ui/jobs/job-request.js';
import { run } from '../cli/run.js';
import { OWN_CLASSES, writeOwnModel } from '../support/own-model.js';
import { call, detect, PICTURE, post, resultOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

const OWN = { model_name: 'own.pt' };
const ALL = { car_ahead: 3, stop_sign: 1, Lorry: 1, van: 1 };
const SOME = { car_ahead: 3, stop_sign: 1 };

let folder: string;
let service: ServiceProcess;
let client: LatticeClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-own-'));
  writeOwnModel(folder);
  service = await startService({ env: { LATTICE_MODELS_DIR: folder } });
  client = new LatticeClient({ url: service.url });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('a synchronous request', () => {
  test.each([
    [{}, ALL],
    [{ model_name: 'own' }, ALL],
    [{ classes: ['*'] }, ALL],
    [{ classes: ['CAR_AHEAD', 'Stop_Sign'] }, SOME],
    [{ vehicle_types: ['lorry'] }, { Lorry: 1 }],
  ])('with %j', async (fields, counts) => {
    const { body } = await detect(service.url, { ...OWN, ...fields });
    expect(body).toMatchObject({ status: 'success', class_counts: counts, car_count: 0 });
  });

  test('for a class that it lacks is told those it has', async () => {
    const { status, body } = await detect(service.url, { ...OWN, classes: ['car'] });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      {
        detail: `own.pt has no class 'car'. Its classes: ${OWN_CLASSES.join(', ')}.`,
        pointer: '#/classes/0',
      },
    ]);
  });
});

test.each([
  ['detect_vehicles', {}, ALL],
  ['detect_vehicles', { model_name: 'own' }, ALL],
  ['detect_vehicles', { classes: ['car_ahead', 'STOP_SIGN'] }, SOME],
  ['batch_detect', { classes: ['van'] }, { van: 1 }],
])('a %s job with %j', async (job_type, fields, counts) => {
  const id = await submit(service.url, { job_type, ...OWN, ...fields });
  expect((await resultOf(service.url, id)).result).toMatchObject({ class_counts: counts });
});

test('a detect_cars job is refused at submit', async () => {
  const job = { job_type: 'detect_cars', image_paths: ['shapes.png'], ...OWN };
  const { status, body } = await post(service.url, '/v1/jobs/submit', job);
  expect({ status, code: body.code, pointer: body.errors[0]?.pointer }).toEqual({
    status: 422,
    code: 'validation_failed',
    pointer: '#/job_type',
  });
});

describe('the command line', () => {
  const local = ['detect', PICTURE, '--models-dir'] as const;

  test('detects here', async () => {
    const flags = [folder, '-m', 'own.pt', '--classes', 'car_ahead,STOP_SIGN', '--json'];
    const { out, code } = await run(...local, ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ class_counts: SOME });
  });

  test('submits a job', async () => {
    const flags = ['--url', service.url, '-m', 'own.pt', '--classes', 'van', '--wait'];
    const { out, code } = await run('job', 'submit', 'shapes.png', ...flags);
    expect(code).toBe(0);
    const { result } = await resultOf(service.url, out.trim());
    expect(result).toMatchObject({ class_counts: { van: 1 } });
  });

  test('takes one kind of class list', async () => {
    const flags = ['--url', service.url, '--classes', 'van', '--vehicle-types', 'van'];
    const { err, code } = await run('job', 'submit', 'shapes.png', ...flags);
    expect(code).toBe(2);
    expect(err).toContain("'--vehicle-types <names>' cannot be used with option '--classes");
  });
});

test('the live page offers its classes and gets their boxes', async () => {
  const models = usableModels(await client.models());
  expect(offeredClasses(models, 'own.pt')).toEqual(OWN_CLASSES);
  expect(offeredClasses(models, '')).toEqual([]);
  const fields = { model: 'own.pt', classes: ['car_ahead', 'stop_sign'] };
  const request = detectFields({ ...fields, threshold: 0.5 });
  const answer = await client.detect({ image_path: 'shapes.png', ...request });
  expect(answer.class_counts).toEqual(SOME);
  const rest = { view: '', threshold: 0.5, metadata: '' };
  const type = 'batch_detect' as const;
  const job = { ...fields, ...rest, paths: 'shapes.png', type, priority: 0 };
  const { job_id } = await client.submit(jobRequest(job));
  expect((await resultOf(service.url, job_id)).result).toMatchObject({ class_counts: SOME });
  const cars = jobRequest({ ...job, type: 'detect_cars' });
  expect(JSON.parse(cars)).toMatchObject({ classes: null });
});

test('the Node client', async () => {
  const request = { image_path: 'shapes.png', ...OWN, classes: ['van', 'STOP_SIGN'] };
  const { class_counts } = await client.detect(request);
  expect(class_counts).toEqual({ van: 1, stop_sign: 1 });
  const { job_id } = await client.submit({
    job_type: 'detect_vehicles',
    image_paths: ['shapes.png'],
    ...OWN,
    classes: ['lorry'],
  });
  await client.waitFor(job_id);
  expect((await client.result(job_id)).result).toMatchObject({ class_counts: { Lorry: 1 } });
});

test('the models route tells the classes before the model is loaded', async () => {
  const { body } = await call(service.url, '/v1/models');
  expect(body.models).toContainEqual(
    expect.objectContaining({ name: 'own.pt', classes: OWN_CLASSES }),
  );
});

test('metrics tell its images, its detections by class and the time of its jobs', async () => {
  const { text } = await call(service.url, '/metrics');
  expect(text).toMatch(/^lattice_model_images_total\{model="own.pt"\} [1-9]/m);
  for (const name of OWN_CLASSES) {
    const series = `lattice_detections_total{model="own.pt",class="${name}"} `;
    expect(
      text.split('\n').some((line) => line.startsWith(series)),
      name,
    ).toBe(true);
  }
  expect(text).toMatch(/^lattice_job_seconds_count\{status="completed"\} [1-9]/m);
});
