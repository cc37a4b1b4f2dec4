/** Each rule of a submission at its edge. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../../src/api/errors.js';
import { compose, post, ROOT, type Answer } from '../../../support/composed-app.js';
import { PARAMETER_ROWS } from '../../../../src/api/options.js';

const PATH = '/v1/jobs/submit';
const cars = { job_type: 'detect_cars', image_paths: ['a.jpg'] };

describe('values at the edge', () => {
  const accepted: [string, object][] = [
    ['confidence 0', { confidence_threshold: 0 }],
    ['confidence 1', { confidence_threshold: 1 }],
    ['priority 0', { priority: 0 }],
    ['priority 10', { priority: 10 }],
    ['priority 10.0', { priority: 10.0 }],
    ['iou 0', { iou_threshold: 0 }],
    ['empty metadata', { metadata: {} }],
    ['path of 4,096 bytes', { image_paths: [`${'n'.repeat(4_092)}.jpg`] }],
    ['path of two-byte characters', { image_paths: [`${'é'.repeat(2_046)}.jpg`] }],
    ['path with dots', { image_paths: ['..a/b../...jpg'] }],
    ['callback of 2,048', { callback_url: `http://h/${'a'.repeat(2_039)}` }],
    ['metadata of 64 KiB', { metadata: { a: 'x'.repeat(65_536 - 8) } }],
    ['metadata 14 levels deep', { metadata: nested(14) }],
    ['https callback', { callback_url: 'https://[::1]/x' }],
    ['callback in capitals', { callback_url: 'HTTP://H:81?to=a@b#c' }],
    ['callback not in ASCII', { callback_url: 'http://h/ü' }],
  ];
  test.each(accepted)('%s is accepted', async (_name, fields) => {
    const { status, body } = await post(compose(), PATH, { ...cars, ...fields });
    expect(body).toHaveProperty('job_id');
    expect(status).toBe(202);
  });

  const SAME_REQUEST = { 'x-request-id': 'one' };
  test('null for an optional field means not given', async () => {
    const app = compose();
    const optional = [
      ...['model_name', 'confidence_threshold', 'vehicle_types', 'priority', 'callback_url'],
      ...['metadata', 'annotate', ...PARAMETER_ROWS.map((row) => row.wireName)],
    ];
    const nulls = Object.fromEntries(optional.map((field) => [field, null]));
    const [plain, withNulls] = [
      await post(app, PATH, cars, SAME_REQUEST),
      await post(app, PATH, { ...cars, ...nulls }, SAME_REQUEST),
    ];
    expect(withNulls.status).toBe(202);
    const specOf = ({ body }: Answer) => app.jobs.specOf(body.job_id as string);
    expect(await specOf(withNulls)).toEqual(await specOf(plain));
  });

  const refused: [string, object, string][] = [
    ['no job_type', { job_type: undefined }, '#/job_type'],
    ['null job_type', { job_type: null }, '#/job_type'],
    ['null image_paths', { image_paths: null }, '#/image_paths'],
    ['null among image_paths', { image_paths: ['a.jpg', null] }, '#/image_paths/1'],
    ['null among vehicle_types', { vehicle_types: ['car', null] }, '#/vehicle_types/1'],
    ['unknown field that is null', { colour: null }, '#/colour'],
    ['unknown job_type', { job_type: 'detect_boats' }, '#/job_type'],
    ['no image_paths', { image_paths: undefined }, '#/image_paths'],
    ['no image', { image_paths: [] }, '#/image_paths'],
    ['image_paths as text', { image_paths: 'a.jpg' }, '#/image_paths'],
    ['empty path', { image_paths: ['a.jpg', ''] }, '#/image_paths/1'],
    ['number as path', { image_paths: [7] }, '#/image_paths/0'],
    ['path of 4,097 bytes', { image_paths: [`${'n'.repeat(4_093)}.jpg`] }, '#/image_paths/0'],
    [
      '4,097 bytes in 2,051 chars',
      { image_paths: [`é${'é'.repeat(2_046)}.jp`] },
      '#/image_paths/0',
    ],
    ['lone surrogate', { image_paths: ['a\ud800.jpg'] }, '#/image_paths/0'],
    ['confidence 1.0000001', { confidence_threshold: 1.0000001 }, '#/confidence_threshold'],
    ['confidence -1', { confidence_threshold: -1 }, '#/confidence_threshold'],
    ['confidence -1e-9', { confidence_threshold: -1e-9 }, '#/confidence_threshold'],
    ['confidence "0.5"', { confidence_threshold: '0.5' }, '#/confidence_threshold'],
    ['confidence "NaN"', { confidence_threshold: 'NaN' }, '#/confidence_threshold'],
    ['confidence true', { confidence_threshold: true }, '#/confidence_threshold'],
    ['priority 11', { priority: 11 }, '#/priority'],
    ['priority -1', { priority: -1 }, '#/priority'],
    ['priority 1.5', { priority: 1.5 }, '#/priority'],
    ['priority "1"', { priority: '1' }, '#/priority'],
    ['iou 1.1', { iou_threshold: 1.1 }, '#/iou_threshold'],
    ['max_detections 0', { max_detections: 0 }, '#/max_detections'],
    ['max_detections 301', { max_detections: 301 }, '#/max_detections'],
    ['annotate "yes"', { annotate: 'yes' }, '#/annotate'],
    ['model with a space', { model_name: 'yolov8n s.pt' }, '#/model_name'],
    ['model with a path', { model_name: '../yolov8n.pt' }, '#/model_name'],
    ['no vehicle type', { vehicle_types: [] }, '#/vehicle_types'],
    ['257 vehicle types', { vehicle_types: Array(257).fill('car') }, '#/vehicle_types'],
    ['257 classes', { classes: Array(257).fill('car') }, '#/classes'],
    ['classes of two kinds', { classes: ['bus'], vehicle_types: ['bus'] }, '#/classes'],
    ['ftp callback', { callback_url: 'ftp://h/x' }, '#/callback_url'],
    ['relative callback', { callback_url: '/hook' }, '#/callback_url'],
    ['callback with user', { callback_url: 'http://u@h/x' }, '#/callback_url'],
    ['callback with password', { callback_url: 'http://:p@h/x' }, '#/callback_url'],
    ['callback without host', { callback_url: 'http:///hook' }, '#/callback_url'],
    ['callback without slashes', { callback_url: 'http:hook' }, '#/callback_url'],
    ['callback with backslashes', { callback_url: 'http:\\\\h\\x' }, '#/callback_url'],
    ['callback after a space', { callback_url: ' http://h/x' }, '#/callback_url'],
    ['callback over two lines', { callback_url: 'http://h/x\n' }, '#/callback_url'],
    ['callback of 2,049', { callback_url: `http://h/${'a'.repeat(2_040)}` }, '#/callback_url'],
    ['metadata as list', { metadata: [] }, '#/metadata'],
    ['metadata as text', { metadata: '{}' }, '#/metadata'],
    ['metadata over 64 KiB', { metadata: { a: 'x'.repeat(65_536 - 7) } }, '#/metadata'],
    ['constructor in metadata', { metadata: { constructor: 1 } }, '#/metadata'],
    ['prototype deep in metadata', { metadata: { a: [{ prototype: 1 }] } }, '#/metadata'],
    ['unknown field', { colour: 'red' }, '#/colour'],
    ['unknown field with slash', { 'a/b~c': 1 }, '#/a~1b~0c'],
  ];
  test.each(refused)('%s is refused', async (_name, fields, pointer) => {
    const app = compose();
    const before = app.jobs.service.lastSeq();
    const { status, body } = await post(app, PATH, { ...cars, ...fields });
    expect(body).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(status).toBe(422);
    expect(pointersOf(body)).toContain(pointer);
    expect(app.jobs.service.lastSeq()).toBe(before);
  });

  test.each([
    ['{"__proto__": {"a": 1}}', '__proto__ in metadata'],
    ['{"n": 1e999}', 'infinite number in metadata'],
  ])('metadata %s is refused', async (metadata) => {
    const text = `{"job_type":"detect_cars","image_paths":["a.jpg"],"metadata":${metadata}}`;
    const { body } = await post(compose(), PATH, text);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '#/metadata' }] });
  });

  test.each([
    ['../a.jpg'],
    ['a/../b.jpg'],
    ['a/..'],
    ['a\0.jpg'],
    ['/etc/passwd'],
    [`${ROOT}-twin/a.jpg`],
    ['/'],
  ])('path %j is not allowed', async (path) => {
    const { status, body } = await post(compose(), PATH, { ...cars, image_paths: ['a.jpg', path] });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'path_not_allowed',
      errors: [{ pointer: '#/image_paths/1' }],
    });
    expect(JSON.stringify(body)).not.toContain(ROOT);
  });

  test('all broken rules are named at once', async () => {
    const { body } = await post(compose(), PATH, { job_type: 1, image_paths: [], x: 1, y: 2 });
    expect(pointersOf(body).sort()).toEqual(['#/image_paths', '#/job_type', '#/x', '#/y']);
  });

  test('a missing field is reported as missing', async () => {
    const { body } = await post(compose(), PATH, {});
    expect(body).toMatchObject({
      errors: [
        { detail: "Field 'job_type' is missing.", pointer: '#/job_type' },
        { detail: "Field 'image_paths' is missing.", pointer: '#/image_paths' },
      ],
    });
    const nothing = await post(compose(), PATH, { ...cars, image_paths: null });
    expect(JSON.stringify(nothing.body)).not.toContain('missing');
  });

  test('one image more than the cap is refused, the cap itself is not', async () => {
    const app = compose({ maxImagesPerJob: 3 });
    const many = (count: number) => ({ ...cars, image_paths: Array(count).fill('a.jpg') });
    expect(await post(app, PATH, many(3))).toMatchObject({ status: 202 });
    expect(await post(app, PATH, many(4))).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/image_paths' }] },
    });
  });

  test('a million wrong items give few issues', async () => {
    const { body } = await post(compose(), PATH, { ...cars, image_paths: Array(1e6).fill(1) });
    expect(body.errors).toHaveLength(1);
  });
});

test('property: an object of arbitrary JSON is answered 202 or 422, never 5xx', async () => {
  const app = compose();
  const field = fc.constantFrom(
    ...['job_type', 'image_paths', 'confidence_threshold', 'priority', 'metadata', 'callback_url'],
    ...['vehicle_types', 'model_name', 'annotate', 'other'],
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(field, fc.jsonValue({ maxDepth: 4 })), async (fields) => {
      const { status, body } = await post(app, PATH, { ...cars, ...fields });
      expect([202, 422]).toContain(status);
      if (status === 422)
        expect(body.code).toMatch(/^(validation_failed|path_not_allowed|unk|inv)/);
    }),
    { numRuns: 200 },
  );
});

test('property: metadata is returned as it was sent', async () => {
  const app = compose();
  const value = fc.jsonValue({ maxDepth: 4 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), value), async (metadata) => {
      fc.pre(!/"(__proto__|constructor|prototype)":/.test(JSON.stringify(metadata)));
      const { body } = await post(app, PATH, { ...cars, metadata });
      const { spec } = await app.jobs.service.get(body.job_id as string, null);
      expect(spec.metadata).toBe(JSON.stringify(metadata));
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['long numbers', '{"ts_ns":1764064800123456789,"x":0.10000000000000000001,"e":1E5,"z":-0}'],
  ['the order of keys', '{"b":1,"10":2,"2":3,"":4}'],
  ['escapes', String.raw`{"a":"\u00e9\"\\","b":["\\"]}`],
])('metadata keeps %s as text', async (_, metadata) => {
  expect(await storedMetadata(metadata)).toBe(metadata);
});

test('metadata loses white space, and of equal keys the earlier ones', async () => {
  const text = '{ "a" :\n [ 1 , {"k":1,"k":22} ],\t"b":{"__proto__":{}}, "b" : {} }';
  expect(await storedMetadata(text)).toBe('{"a":[1,{"k":22}],"b":{}}');
  expect(await storedMetadata('{"a":1},"metadata":{"metadata":"}\\\\"}')).toBe(
    '{"metadata":"}\\\\"}',
  );
});

async function storedMetadata(metadata: string): Promise<string | null> {
  const app = compose();
  const text = `{"job_type":"detect_cars","metadata" : ${metadata} ,"image_paths":["a.jpg"]}`;
  const { body } = await post(app, PATH, text);
  return (await app.jobs.service.get(body.job_id as string, null)).spec.metadata;
}

function pointersOf(problem: unknown): (string | undefined)[] {
  return ((problem as Problem).errors ?? []).map((item) => item.pointer);
}

function nested(depth: number): object {
  let value = {};
  for (let level = 1; level < depth; level += 1) value = { a: value };
  return value;
}

describe('a callback_url that names an address', () => {
  const submitTo = (callback_url: string, config: Parameters<typeof compose>[0]) =>
    post(compose({ insecure: true, host: '0.0.0.0', ...config }), PATH, { ...cars, callback_url });

  test.each([
    'http://169.254.169.254/',
    'http://2852039166/latest',
    'http://0xa9fea9fe/',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://100.100.100.200/',
    'http://224.0.0.1/',
    'http://0.0.0.0/',
  ])('%s is refused at once in every environment', async (url) => {
    for (const env of ['development', 'production'] as const) {
      expect(await submitTo(url, { env })).toMatchObject({
        status: 422,
        body: { code: 'validation_failed', errors: [{ pointer: '#/callback_url' }] },
      });
    }
  });

  test('a private address is refused in production unless it is listed', async () => {
    const url = 'http://10.1.2.3:8080/hook';
    expect((await submitTo(url, { env: 'development' })).status).toBe(202);
    const refused = await submitTo(url, { env: 'production' });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toContain('LATTICE_WEBHOOK_ALLOW');
    const listed = await submitTo(url, { env: 'production', webhookAllow: ['10.1.0.0/16'] });
    expect(listed.status).toBe(202);
  });

  test('a host name is checked when the webhook is sent', async () => {
    expect((await submitTo('http://hooks.internal/', { env: 'production' })).status).toBe(202);
  });
});
