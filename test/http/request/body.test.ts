/** Rules for a body before its fields matter, on both routes that take one. */
import { describe, expect, test } from 'vitest';
import { compose, post } from '../../support/composed-app.js';

const submission = { job_type: 'detect_cars', image_paths: ['a.jpg'] };
const ROUTES: [string, object][] = [
  ['/v1/jobs/submit', submission],
  ['/v1/inference/detect', { image_path: 'a.jpg' }],
];

describe.each(ROUTES)('%s', (path, good) => {
  test.each([
    [''],
    ['{'],
    ['{"image_path": NaN}'],
    ['{"image_path": Infinity}'],
    ['{"image_path": undefined}'],
    ["{'image_path': 'a'}"],
    ['{"image_path": "a",}'],
    ['{"image_path": "a"} {}'],
    ['\0'],
  ])('%j is not JSON', async (body) => {
    const answer = await post(compose(), path, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'bad_json', status: 400 } });
  });

  test('bytes that are not UTF-8 are refused', async () => {
    const response = await compose().app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"image_path":"\xff.jpg"}', 'latin1'),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'bad_json' });
  });

  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/mixed; boundary=x'],
    ['application/jsonp'],
    ['application/octet'],
    [''],
  ])('Content-Type %j is refused', async (type) => {
    const answer = await post(compose(), path, good, { 'content-type': type });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test.each([['gzip'], ['br'], ['Deflate'], ['identity, gzip']])(
    'Content-Encoding %j is refused as such',
    async (coding) => {
      const answer = await post(compose(), path, good, { 'content-encoding': coding });
      expect(answer).toMatchObject({
        status: 415,
        body: { detail: expect.stringContaining('Content-Encoding') },
      });
    },
  );

  test('Content-Encoding identity is accepted', async () => {
    const answer = await post(compose(), path, good, { 'content-encoding': 'identity' });
    expect(answer.status).toBeLessThan(300);
  });

  test.each([
    ['application/json; charset=utf-8'],
    ['Application/JSON'],
    ['application/vnd.lattice+json'],
  ])('Content-Type %j is accepted', async (type) => {
    const answer = await post(compose(), path, good, { 'content-type': type });
    expect(answer.status).toBeLessThan(300);
  });

  test('a body of the limit is read, one byte more is not, declared or streamed', async () => {
    const limit = 300;
    const app = compose({ maxBodyBytes: limit });
    const text = JSON.stringify(good);
    const body = (size: number) => text + ' '.repeat(size - text.length);
    const streamed = async (size: number) => {
      const bytes = new TextEncoder().encode(body(size));
      const stream = new ReadableStream({
        start(controller) {
          for (let at = 0; at < size; at += 7) controller.enqueue(bytes.slice(at, at + 7));
          controller.close();
        },
      });
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: stream, duplex: 'half' as const };
      return (await app.app.request(path, init)).status;
    };
    expect((await post(app, path, body(limit))).status).toBeLessThan(300);
    expect(await post(app, path, body(limit + 1))).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect(await streamed(limit)).toBeLessThan(300);
    expect(await streamed(limit + 1)).toBe(413);
  });

  test('a declared length beyond the limit is refused unread, a false length does not avoid the limit', async () => {
    const app = compose({ maxBodyBytes: 100 });
    expect(await post(app, path, good, { 'content-length': '101' })).toMatchObject({ status: 413 });
    const padded = JSON.stringify(good).padEnd(200);
    expect(await post(app, path, padded, { 'content-length': '7' })).toMatchObject({ status: 413 });
  });

  test('nesting and number of keys are limited', async () => {
    const app = compose();
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    for (const levels of [17, 5_000, 200_000]) {
      const answer = await post(app, path, `{"metadata":${deep(levels)}}`);
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: [{ detail: expect.stringContaining('nested') }] },
      });
    }
    const keys = (count: number) => Object.fromEntries([...Array(count).keys()].map((n) => [n, n]));
    expect(await post(app, path, keys(1_001))).toMatchObject({
      status: 422,
      body: { errors: [{ detail: expect.stringContaining('1000 keys') }] },
    });
    const allowed = await post(app, path, keys(1_000));
    expect(JSON.stringify(allowed.body)).not.toContain('1000 keys');
  });
});

test('metadata has at most 1,000 keys', async () => {
  const keys = (count: number) => Object.fromEntries([...Array(count).keys()].map((n) => [n, n]));
  const status = async (count: number) =>
    (await post(compose(), '/v1/jobs/submit', { ...submission, metadata: keys(count) })).status;
  expect(await status(1_000)).toBe(202);
  expect(await status(1_001)).toBe(422);
});
