/** The result record of every kind of job, field by field, with the right boxes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO, expectVehicles, resultOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import {
  ALL_COUNTS,
  imageFields,
  modelAndWorker,
  number,
  problem,
  resultRecord,
} from '../support/wire-shapes.js';

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-routes-'));
  writeFileSync(join(folder, 'broken.png'), 'not a picture');
  service = await startService({ env: { LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` } });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('the result of one image has the shape of the document, with the metadata as it came', async () => {
  const metadata = { camera: 'north', 'a/b~c': [1, 2.5, null, { deep: 'ü' }], empty: {} };
  const id = await submit(service.url, { job_type: 'detect_cars', metadata });
  const body = await resultOf(service.url, id);
  expect(body).toEqual(
    resultRecord(id, {
      result: { image_path: 'shapes.png', ...imageFields(3, 3, { car: 3 }), ...modelAndWorker },
      metadata,
    }),
  );
  expectVehicles(body.result.detections, { classes: ['car'] });
});

test('metadata comes back with every digit, in result and summary', async () => {
  const metadata = '{"ts_ns":1764064800123456789,"fine":0.12345678901234567890}';
  const body = `{"job_type":"detect_cars","image_paths":["shapes.png"],"metadata":${metadata}}`;
  const answer = await fetch(`${service.url}/v1/jobs/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { job_id: id } = (await answer.json()) as { job_id: string };
  await resultOf(service.url, id);
  for (const what of ['result', 'summary']) {
    const text = await (await fetch(`${service.url}/v1/jobs/${id}/${what}`)).text();
    expect(text).toContain(`"metadata":${metadata}}`);
  }
});

test('the result of several images, one broken, has an entry for each in their order', async () => {
  const id = await submit(service.url, {
    image_paths: ['shapes.png', 'broken.png', 'shapes.png'],
  });
  const body = await resultOf(service.url, id);
  const good = {
    image_path: 'shapes.png',
    status: 'ok',
    ...imageFields(6, 3, ALL_COUNTS),
    worker_id: modelAndWorker.worker_id,
  };
  expect(body).toEqual(
    resultRecord(id, {
      failed_images: 1,
      result: {
        images: [
          good,
          {
            image_path: 'broken.png',
            status: 'error',
            error: problem(422, 'unsupported_image_format'),
          },
          good,
        ],
        car_count: 6,
        total_count: 12,
        class_counts: { bus: 2, car: 6, motorcycle: 2, truck: 2 },
        succeeded: 2,
        failed: 1,
        not_run: 0,
        processing_time_ms: number,
        ...modelAndWorker,
      },
    }),
  );
  expectVehicles(body.result.images[2]!.detections);
});

test('a job whose images all failed is failed, with an error', async () => {
  const several = await submit(service.url, { image_paths: ['broken.png', 'absent.png'] });
  const { status, error, result } = await resultOf(service.url, several);
  expect({ status, error }).toEqual({
    status: 'failed',
    error: problem(422, 'all_images_failed'),
  });
  expect(result.images.map((image) => image.error.code)).toEqual([
    'unsupported_image_format',
    'image_not_found',
  ]);
});

test('a job whose only image failed has the error of that image', async () => {
  const id = await submit(service.url, { image_paths: ['absent.png'], metadata: { a: 1 } });
  expect(await resultOf(service.url, id)).toEqual(
    resultRecord(id, {
      status: 'failed',
      failed_images: 1,
      result: null,
      error: problem(422, 'image_not_found'),
      metadata: { a: 1 },
    }),
  );
});

test.each([
  ['detect_vehicles', {}, undefined],
  ['detect_vehicles', { vehicle_types: ['motorcycle', 'car'] }, ['motorcycle', 'car']],
  ['batch_detect', {}, undefined],
  ['detect_cars', { vehicle_types: ['bus'] }, ['car']],
])('%s with %j has the classes asked for', async (jobType, more, classes) => {
  const id = await submit(service.url, { job_type: jobType, ...more });
  const { result } = await resultOf(service.url, id);
  expectVehicles(result.detections, classes === undefined ? {} : { classes });
});
