import { describe, expect, test } from 'vitest';
import { ERRORS, LatticeError, type ErrorCode } from '../../../src/api/errors.js';
import { detectResponseSchema } from '../../../src/http/routes/detect.js';
import { compose, DRAWN, post, ROOT } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';
import { DEFAULT_VEHICLES, PARAMETER_ROWS } from '../../../src/api/options.js';

const PATH = '/v1/inference/detect';
const image = { image_path: 'a.jpg' };

test('a detection is answered in the shape of the interface', async () => {
  const app = compose();
  app.detector.answer = () =>
    Promise.resolve({
      ...oneCar,
      detections: ['car', 'CAR', 'bus'].map((name) => ({ ...oneCar.detections[0]!, class: name })),
    });
  const { status, body, headers } = await post(app, PATH, image);
  expect(status).toBe(200);
  expect(detectResponseSchema.parse(body)).toEqual(body);
  expect(body).toMatchObject({
    status: 'success',
    image_path: 'a.jpg',
    detections: [
      { box: [10.5, 20, 110, 90.25], confidence: 0.91, class: 'car' },
      { class: 'CAR' },
      { class: 'bus' },
    ],
    total_count: 3,
    car_count: 2,
    class_counts: { car: 1, CAR: 1, bus: 1 },
    processing_time_ms: 15.7,
    model: 'yolov8n.pt',
    worker_id: 'worker-1',
    image: { width: 640, height: 480 },
    timings_ms: oneCar.timingsMs,
  });
  expect(headers.get('server-timing')).toMatch(/^queue;dur=0\.10, decode;dur=2\.00, .*total;dur=/);
});

test('a wait for the model shows among the timings', async () => {
  const app = compose();
  const timingsMs = { ...oneCar.timingsMs, model_load: 1_204.5 };
  app.detector.answer = () => Promise.resolve({ ...oneCar, timingsMs });
  const { body, headers } = await post(app, PATH, image);
  expect(detectResponseSchema.parse(body).timings_ms).toEqual(timingsMs);
  expect(headers.get('server-timing')).toContain('queue;dur=0.10, model_load;dur=1204.50, decode');
});

test('no boxes is success', async () => {
  const app = compose();
  app.detector.answer = () => Promise.resolve({ ...oneCar, detections: [] });
  expect(await post(app, PATH, image)).toMatchObject({
    status: 200,
    body: { detections: [], total_count: 0, car_count: 0, class_counts: {} },
  });
});

test('defaults: threshold 0.5, the vehicles, the configured family', async () => {
  const app = compose({ modelFamily: 'other', syncDeadlineMs: 4_000 });
  await post(app, PATH, image);
  expect(app.detector.requests[0]).toMatchObject({
    path: 'a.jpg',
    kind: 'sync',
    deadlineMs: 4_000,
    options: {
      modelName: 'otherv8n.pt',
      confidence: 0.5,
      iou: 0.7,
      maxDetections: 300,
      classes: DEFAULT_VEHICLES,
    },
  });
});

test('requested classes reach the detector in the spelling of the model', async () => {
  const app = compose();
  await post(app, PATH, { ...image, vehicle_types: ['BUS', 'car'], confidence_threshold: 0.1 });
  expect(app.detector.requests[0]?.options).toMatchObject({
    classes: ['bus', 'Car'],
    confidence: 0.1,
  });
});

test.each([
  [{ classes: ['CAR', 'person'] }, ['Car', 'person']],
  [{ vehicle_types: ['person'] }, ['person']],
  [{ classes: ['*'] }, null],
  [{ vehicle_types: ['bus', '*'] }, null],
  [{ classes: null, vehicle_types: ['Bus'] }, ['bus']],
])('%j reaches the detector as %j', async (fields, classes) => {
  const app = compose();
  expect(await post(app, PATH, { ...image, ...fields })).toMatchObject({ status: 200 });
  expect(app.detector.requests[0]?.options.classes).toEqual(classes);
});

test('the classes of a model that nobody can describe are left to its worker', async () => {
  const app = compose();
  app.detector.classes = [];
  await post(app, PATH, { ...image, classes: ['boat'] });
  expect(app.detector.requests[0]?.options.classes).toEqual(['boat']);
});

test.each([
  [{ confidence_threshold: 1.5 }, 'confidence_threshold: It must be at most 1.'],
  [{ confidence_threshold: 'high' }, 'confidence_threshold: It must be a number.'],
  [{ max_detections: 0 }, 'max_detections: It must be at least 1.'],
  [{ max_detections: 2.5 }, 'max_detections: It must be a whole number.'],
  [{ classes: [] }, 'classes: It must have at least 1 entry.'],
  [{ image_path: 7 }, 'image_path: It must be a text.'],
])('%j is refused in words', async (fields, detail) => {
  const { status, body } = await post(compose(), PATH, { ...image, ...fields });
  expect({ status, detail: body.detail }).toEqual({ status: 422, detail });
});

test('null for an optional field means not given', async () => {
  const app = compose();
  const optional = ['model_name', 'confidence_threshold', 'vehicle_types', 'iou_threshold'];
  optional.push('classes', 'annotate', 'deadline_ms', ...PARAMETER_ROWS.map((row) => row.wireName));
  const nulls = optional.map((field) => [field, null]);
  expect(await post(app, PATH, image)).toMatchObject({ status: 200 });
  const answer = await post(app, PATH, { ...image, ...Object.fromEntries(nulls) });
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.body).not.toHaveProperty('annotated_url');
  const [plain, withNulls] = app.detector.requests.map(({ options }) => options);
  expect(withNulls).toEqual(plain);
});

test.each([
  [{}, '#/image_path'],
  [{ image_path: null }, '#/image_path'],
  [{ image_path: '' }, '#/image_path'],
  [{ image_path: ['a.jpg'] }, '#/image_path'],
  [{ image_path: 'n'.repeat(4_097) }, '#/image_path'],
  [{ image_path: '\udfff' }, '#/image_path'],
  [{ ...image, confidence_threshold: 1.0000001 }, '#/confidence_threshold'],
  [{ ...image, confidence_threshold: 'NaN' }, '#/confidence_threshold'],
  [{ ...image, vehicle_types: ['boat'] }, '#/vehicle_types/0'],
  [{ ...image, classes: ['car', 'boat'] }, '#/classes/1'],
  [{ ...image, classes: ['*', 'boat'] }, '#/classes/1'],
  [{ ...image, classes: [] }, '#/classes'],
  [{ ...image, classes: ['car', ''] }, '#/classes/1'],
  [{ ...image, classes: Array(257).fill('car') }, '#/classes'],
  [{ ...image, classes: ['car'], vehicle_types: ['car'] }, '#/classes'],
  [{ ...image, deadline_ms: 0 }, '#/deadline_ms'],
  [{ ...image, deadline_ms: 1.5 }, '#/deadline_ms'],
  [{ ...image, deadline_ms: '100' }, '#/deadline_ms'],
  [{ ...image, deadline_ms: 10_001 }, '#/deadline_ms'],
  [{ ...image, vehicle_types: 'car' }, '#/vehicle_types'],
  [{ ...image, priority: 1 }, '#/priority'],
  [[], '#'],
  ['"text"', '#'],
  ['null', '#'],
])('%j is refused', async (body, pointer) => {
  const app = compose();
  const answer = await post(app, PATH, body);
  expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  expect(answer.body.errors[0].pointer).toBe(pointer);
  expect(app.detector.requests).toEqual([]);
});

test.each([['../a.jpg'], ['a\0.jpg'], ['/etc/passwd'], ['x/../../y']])(
  'path %j is not allowed',
  async (image_path) => {
    const answer = await post(compose(), PATH, { image_path });
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'path_not_allowed', errors: [{ pointer: '#/image_path' }] },
    });
  },
);

describe('failures of the detector', () => {
  const codes: ErrorCode[] = [
    'image_not_found',
    'path_not_allowed',
    'not_a_regular_file',
    'image_unreadable',
    'image_too_large',
    'unsupported_image_format',
    'invalid_image',
    'input_changed',
    'volume_unavailable',
    'unknown_model',
    'invalid_model',
    'model_not_ready',
    'detection_failed',
    'overloaded',
    'shutting_down',
    'deadline_exceeded',
  ];
  test.each(codes)('%s keeps its status', async (code) => {
    const app = compose();
    app.detector.answer = () => Promise.reject(new LatticeError(code, 'Because.'));
    const answer = await post(app, PATH, image);
    expect(answer).toMatchObject({
      status: ERRORS[code].status,
      body: { code, status: ERRORS[code].status, detail: 'Because.' },
    });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.has('retry-after')).toBe(ERRORS[code].status === 503);
  });

  test('anything else is 500 detection_failed without inner text', async () => {
    const app = compose();
    app.detector.answer = () => Promise.reject(new Error('secret /srv/images/x at foo.ts:1'));
    const { status, body } = await post(app, PATH, image);
    expect({ status, code: body.code }).toEqual({ status: 500, code: 'detection_failed' });
    expect(JSON.stringify(body)).not.toMatch(/secret|\.ts/);
    expect(app.logged).toHaveLength(1);
  });

  test('a missed deadline is logged without a stack', async () => {
    const app = compose();
    app.detector.answer = () => Promise.reject(new LatticeError('deadline_exceeded', 'Late.'));
    expect(await post(app, PATH, image)).toMatchObject({ status: 504 });
    expect(app.logged).toEqual([
      {
        fields: { code: 'deadline_exceeded', request_id: expect.any(String) },
        message: `POST ${PATH} failed`,
      },
    ]);
  });

  test("errors do not show the service's folders", async () => {
    const app = compose();
    app.detector.answer = () =>
      Promise.reject(new LatticeError('invalid_image', `cannot read ${ROOT}/in/a.jpg in ${ROOT}`));
    const { body } = await post(app, PATH, image);
    expect(body.detail).toBe('cannot read in/a.jpg in .');
  });

  test('a request that a stopping detector cancels is answered 503', async () => {
    const app = compose();
    app.detector.answer = () => Promise.reject(new LatticeError('cancelled', 'Closed.'));
    expect(await post(app, PATH, image)).toMatchObject({
      status: 503,
      body: { code: 'shutting_down' },
    });
  });
});

test('the detector is given the deadline and a signal', async () => {
  const app = compose({ syncDeadlineMs: 30 });
  await post(app, PATH, image);
  expect(app.detector.requests[0]).toMatchObject({ kind: 'sync', deadlineMs: 30 });
  expect(app.detector.requests[0]?.signal).toBeInstanceOf(AbortSignal);
});

test('a deadline of its own reaches the detector; one that is too long is told the most', async () => {
  const app = compose({ syncDeadlineMs: 4_000 });
  await post(app, PATH, { ...image, deadline_ms: 250 });
  expect(app.detector.requests[0]).toMatchObject({ deadlineMs: 250 });
  const { body } = await post(app, PATH, { ...image, deadline_ms: 4_001 });
  expect(body.detail).toBe('deadline_ms: It is at most 4000, the deadline of the service.');
});

test('only a few images are drawn at a time', async () => {
  const done: ((file: string) => void)[] = [];
  const annotate = () => new Promise<string>((resolve) => done.push(resolve));
  const app = compose({}, { annotator: { ...DRAWN, annotate } });
  const ask = () => post(app, PATH, { ...image, annotate: true });
  const drawn = Array.from({ length: 16 }, ask);
  while (done.length < 16) await new Promise(setImmediate);
  const refused = await ask();
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(await post(app, PATH, image)).toMatchObject({ status: 200 });
  for (const finish of done) finish('a1.jpg');
  expect((await Promise.all(drawn)).map(({ status }) => status)).toEqual(drawn.map(() => 200));
});

describe('drawing', () => {
  test('the drawn copy is named', async () => {
    const app = compose();
    const { body } = await post(app, PATH, { ...image, annotate: true });
    expect(body.annotated_url).toBe('/v1/annotated/a1.jpg');
    const picture = await app.app.request(body.annotated_url as string);
    expect(picture.headers.get('content-type')).toBe('image/jpeg');
    expect(new Uint8Array(await picture.arrayBuffer())).toEqual(new Uint8Array([255, 216]));
  });

  test('a drawing that fails does not affect the boxes', async () => {
    const annotate = () => Promise.reject(new Error('disk'));
    const app = compose({}, { annotator: { ...DRAWN, annotate } });
    const { status, body } = await post(app, PATH, { ...image, annotate: true });
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('annotated_url');
    expect(app.logged[0]?.message).toBe('drawing failed');
  });

  test.each([['nothing.jpg'], ['..%2fa1.jpg'], ['a1.jpg%00'], ['a1.gif'], ['%E0%A4%A']])(
    'drawn copy %s is not found',
    async (file) => {
      const response = await compose().app.request(`/v1/annotated/${file}`);
      expect(response.status).toBe(404);
    },
  );
});
