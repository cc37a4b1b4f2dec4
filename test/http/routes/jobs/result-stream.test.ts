/** Results that come in pieces, over real sockets. */
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import {
  listen,
  type ConnectionLimits,
  type Listening,
} from '../../../../src/http/server/listen.js';
import type { ImageOutcome } from '../../../../src/jobs/job.js';
import { compose, get, post, type Harness } from '../../../support/composed-app.js';
import { okOutcome } from '../../../support/fake-jobs.js';

/** Far more text than the sockets of both sides hold. */
const IMAGES = 4_000;
const BOXES = Array<string>(200).fill('car');

let server: Listening | undefined;

afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

async function finished(
  count: number,
  boxes: string[],
  limits: Partial<ConnectionLimits> = {},
): Promise<{ app: Harness; path: string }> {
  const app = compose();
  const { body } = await post(app, '/v1/jobs/submit', {
    job_type: 'detect_cars',
    image_paths: Array.from({ length: count }, (_, index) => `${index}.jpg`),
  });
  const jobId = body.job_id as string;
  app.jobs.finish(jobId, Array<ImageOutcome>(count).fill(okOutcome(boxes)));
  app.jobs.imagesAPage = 10;
  server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
  return { app, path: `/v1/jobs/${jobId}/result` };
}

function ask(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server?.port, path, agent: false };
    request(options, resolve).on('error', reject).end();
  });
}

async function turnsUntil(what: string, check: () => boolean): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!check()) {
    if (performance.now() > deadline) throw new Error(`Not within 15 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Pages read once nothing more is read for a while. */
async function standstill(app: Harness): Promise<number> {
  let last = app.jobs.pagesRead;
  let since = performance.now();
  await turnsUntil('the reading stands still', () => {
    if (app.jobs.pagesRead !== last) since = performance.now();
    last = app.jobs.pagesRead;
    return last > 2 && performance.now() - since > 300;
  });
  return last;
}

/** Reads on; null when the answer ends as it should, else the error. */
function failureOf(response: IncomingMessage, onData: (chunk: Buffer) => void): Promise<unknown> {
  response.on('data', onData);
  return new Promise((resolve) => {
    response.on('error', resolve);
    response.on('end', () => {
      resolve(null);
    });
  });
}

const broken = (app: Harness) => app.logged.filter(({ message }) => message.includes('broken off'));

test('a result of one page has a length, a longer one is chunked', async () => {
  const { app, path } = await finished(10, ['car']);
  const short = await ask(path);
  const whole = await text(short);
  expect(short.headers['content-length']).toBe(String(Buffer.byteLength(whole)));
  app.jobs.imagesAPage = 3;
  const long = await ask(path);
  expect(long.headers).toMatchObject({
    'transfer-encoding': 'chunked',
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': expect.any(String),
  });
  expect(long.headers).not.toHaveProperty('content-length');
  expect(await text(long)).toBe(whole);
  const head = await get(app, path, {}, 'HEAD');
  expect(head).toMatchObject({ status: 200, body: '' });
});

test('a slow client slows the reading and gets the whole result', async () => {
  const { app, path } = await finished(IMAGES, BOXES);
  const response = await ask(path);
  expect(await standstill(app)).toBeLessThan(IMAGES / 10 / 2);
  const body = JSON.parse(await text(response)) as { result: { images: unknown[] } };
  expect(body.result.images).toHaveLength(IMAGES);
  expect(body.result).toMatchObject({ total_count: IMAGES * BOXES.length, succeeded: IMAGES });
});

test.each(['json', 'coco', 'yolo'])(
  'a client that disconnects from %s ends the reading',
  async (format) => {
    const { app, path } = await finished(IMAGES, BOXES);
    const response = await ask(`${path}?format=${format}`);
    const before = await standstill(app);
    response.destroy();
    await turnsUntil('the reader of the pages ends', () => app.jobs.readers === 0);
    expect(app.jobs.pagesRead - before).toBeLessThanOrEqual(1);
    expect(broken(app)).toEqual([]);
  },
);

test('a client that reads nothing is disconnected at its time limit, and not before', async () => {
  const { app, path } = await finished(IMAGES, BOXES, { unreadTimeout: 1_500 });
  const response = await ask(path);
  await standstill(app);
  expect(app.jobs.readers).toBe(1);
  await turnsUntil('the reader of the pages ends', () => app.jobs.readers === 0);
  expect(await failureOf(response, () => undefined)).toMatchObject({ code: 'ECONNRESET' });
});

test('a failure of the store during the answer closes the connection and is logged', async () => {
  const { app, path } = await finished(100, ['car']);
  app.jobs.brokenPage = 4;
  const response = await ask(path);
  expect(response.statusCode).toBe(200);
  const chunks: Buffer[] = [];
  const failure = await failureOf(response, (chunk) => chunks.push(chunk));
  expect(failure).toMatchObject({ code: 'ECONNRESET' });
  expect(() => JSON.parse(Buffer.concat(chunks).toString()) as unknown).toThrow();
  expect(broken(app)).toMatchObject([{ fields: { err: { code: 'storage_unavailable' } } }]);
  expect(await text(await ask('/livez'))).not.toBe('');
});

test.each([1, 2])('a failure of the store at page %i is answered as a problem', async (page) => {
  const { app, path } = await finished(100, ['car']);
  app.jobs.brokenPage = page;
  const answer = await get(app, path);
  expect(answer).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
});
