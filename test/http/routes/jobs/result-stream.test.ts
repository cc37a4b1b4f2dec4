/** Results that come in pieces, over real sockets. */
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  listen,
  type ConnectionLimits,
  type Listening,
} from '../../../../src/http/server/listen.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import { imagesNamed } from '../../../jobs/job-folder.js';
import { compose, get, type Harness, submitted } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { okOutcome } from '../../../support/outcomes.js';
import { HANG_MS } from '../../../support/eventually.js';

/** Far more text than the sockets of both sides hold. */
const IMAGES = 2_000;
const BOXES = Array<string>(200).fill('car');

let jobs: HeldJobs;
let longResult: string;
let shortResult: string;
let app: Harness;
let server: Listening | undefined;

beforeAll(async () => {
  jobs = await HeldJobs.open();
  longResult = await finished(IMAGES, BOXES);
  shortResult = await finished(100, ['car']);
});

beforeEach(() => {
  Object.assign(jobs, { imagesPerPage: 10, pagesRead: 0, brokenPage: 0, readers: 0 });
});

afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

afterAll(() => jobs[Symbol.asyncDispose]());

/** Path of the result of a job that has ended. */
async function finished(count: number, boxes: string[]): Promise<string> {
  const id = await submitted(compose({}, {}, jobs), { image_paths: imagesNamed('', count) });
  await jobs.finish(id, Array<ImageOutcome>(count).fill(okOutcome(boxes)));
  return `/v1/jobs/${id}/result`;
}

async function serve(limits: Partial<ConnectionLimits> = {}): Promise<void> {
  app = compose({}, {}, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
}

function ask(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server?.port, path, agent: false };
    request(options, resolve).on('error', reject).end();
  });
}

async function turnsUntil(what: string, check: () => boolean): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  while (!check()) {
    if (performance.now() > deadline) throw new Error(`Not within ${HANG_MS} ms: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Pages read once nothing more is read for a while. */
async function standstill(): Promise<number> {
  let last = jobs.pagesRead;
  let since = performance.now();
  await turnsUntil('the reading stands still', () => {
    if (jobs.pagesRead !== last) since = performance.now();
    last = jobs.pagesRead;
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

const broken = () => app.logged.filter(({ message }) => message.includes('broken off'));

test('a result of one page has a length, a longer one is chunked', async () => {
  await serve();
  const path = shortResult;
  jobs.imagesPerPage = 100;
  const short = await ask(path);
  const whole = await text(short);
  expect(short.headers['content-length']).toBe(String(Buffer.byteLength(whole)));
  jobs.imagesPerPage = 30;
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
  await serve();
  const response = await ask(longResult);
  expect(await standstill()).toBeLessThan(IMAGES / 10 / 2);
  const body = JSON.parse(await text(response)) as { result: { images: unknown[] } };
  expect(body.result.images).toHaveLength(IMAGES);
  expect(body.result).toMatchObject({ total_count: IMAGES * BOXES.length, succeeded: IMAGES });
});

test.each(['json', 'coco', 'yolo'])(
  'a client that disconnects from %s ends the reading',
  async (format) => {
    await serve();
    const response = await ask(`${longResult}?format=${format}`);
    const before = await standstill();
    response.destroy();
    await turnsUntil('the reader of the pages ends', () => jobs.readers === 0);
    // On a busy machine the reading may only have paused.
    expect(jobs.pagesRead - before).toBeLessThan(IMAGES / 10 / 2);
    expect(broken()).toEqual([]);
  },
);

test('a client that reads nothing is disconnected at its time limit, and not before', async () => {
  await serve({ unreadTimeout: 1_500 });
  const response = await ask(longResult);
  await standstill();
  expect(jobs.readers).toBe(1);
  await turnsUntil('the reader of the pages ends', () => jobs.readers === 0);
  expect(await failureOf(response, () => undefined)).toMatchObject({ code: 'ECONNRESET' });
});

test('a failure of the store during the answer closes the connection and is logged', async () => {
  await serve();
  jobs.brokenPage = 4;
  const response = await ask(shortResult);
  expect(response.statusCode).toBe(200);
  const chunks: Buffer[] = [];
  const failure = await failureOf(response, (chunk) => chunks.push(chunk));
  expect(failure).toMatchObject({ code: 'ECONNRESET' });
  expect(() => JSON.parse(Buffer.concat(chunks).toString()) as unknown).toThrow();
  expect(broken()).toMatchObject([{ fields: { err: { code: 'storage_unavailable' } } }]);
  expect(await text(await ask('/livez'))).not.toBe('');
});

test.each([1, 2])('a failure of the store at page %i is answered as a problem', async (page) => {
  await serve();
  jobs.brokenPage = page;
  const answer = await get(app, shortResult);
  expect(answer).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
});
