/**
 * Clients that shut down their writing side behind a request still get its answer; those that are gone do not count.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';
import { HeldJobs } from '../../support/held-jobs.js';
import { oneCar } from '../../support/scripted-detector.js';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const IMAGE = JSON.stringify({ image_path: 'a.jpg' });
const JOB = JSON.stringify({ job_type: 'batch_detect', image_paths: ['a.jpg'] });
/** The first bytes of a picture. */
const JPEG = '\xff\xd8\xff\xe0JFIF';
const FORM =
  '--edge\r\nContent-Disposition: form-data; name="image"; filename="a.jpg"\r\n' +
  `Content-Type: image/jpeg\r\n\r\n${JPEG}\r\n--edge--\r\n`;
const INTERIM = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)*/;

const head = (line: string, type: string) =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n`;
const sized = (line: string, type: string, body: string) =>
  `${head(line, type)}Content-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (line: string, type: string, body: string) =>
  `${head(line, type)}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const ROUTE = 'POST /v1/inference/detect';
const DETECT = sized(ROUTE, 'application/json', IMAGE);

const jobs = await HeldJobs.open({
  limits: { maxBytes: 1e6, maxFileBytes: 1e6, maxFiles: 10 },
});
let app: Harness;
let server: Listening;

afterAll(() => jobs[Symbol.asyncDispose]());

beforeEach(async () => {
  app = compose({}, {}, jobs);
  // Not before the end of the client's side has come.
  app.detector.answer = () => new Promise((resolve) => setTimeout(resolve, 50, oneCar));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterEach(() => server.close(0));

/** All that comes back to a client that sends these bytes and shuts down its writing side. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.end(bytes, 'latin1');
  await once(socket, 'close');
  return answer.replace(INTERIM, '');
}

async function newUpload(): Promise<string> {
  const answer = await fetch(`${server.url}/v1/uploads`, { method: 'POST' });
  return ((await answer.json()) as { upload_id: string }).upload_id;
}

describe('a client that shuts down its writing side is answered', () => {
  test.each([
    ['nothing', HEALTH, 200],
    ['nothing, of HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['JSON', DETECT, 200],
    ['JSON in chunks', chunked(ROUTE, 'application/json', IMAGE), 200],
    ['a picture', sized(ROUTE, 'image/jpeg', JPEG), 200],
    ['a picture in chunks', chunked(ROUTE, 'image/jpeg', JPEG), 200],
    ['a form', sized(ROUTE, 'multipart/form-data; boundary=edge', FORM), 200],
    ['a form in chunks', chunked(ROUTE, 'multipart/form-data; boundary=edge', FORM), 200],
    ['a job', sized('POST /v1/jobs/submit', 'application/json', JOB), 202],
    ['a job in chunks', chunked('POST /v1/jobs/submit', 'application/json', JOB), 202],
    ['what is refused', sized(ROUTE, 'application/json', '{}'), 422],
    ['half a body', DETECT.slice(0, -3), 400],
  ])('that sent %s', async (_name, bytes, status) => {
    expect(await answerTo(bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*}$`));
  });

  test.each([
    ['with its length', sized],
    ['in chunks', chunked],
  ])('that sent a file of an upload %s', async (_name, framed) => {
    const line = `PUT /v1/uploads/${await newUpload()}/a.jpg`;
    expect(await answerTo(framed(line, 'image/jpeg', JPEG))).toMatch(/^HTTP\/1\.1 201 [^]*}$/);
  });

  test('that sent several requests at once', async () => {
    const answer = await answerTo(DETECT + HEALTH + DETECT);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
    expect(answer.match(/"success"/g)).toHaveLength(2);
  });

  test('after a long computation', async () => {
    app.detector.answer = () => new Promise((resolve) => setTimeout(resolve, 1_800, oneCar));
    expect(await answerTo(DETECT)).toMatch(/^HTTP\/1\.1 200 [^]*"success"/);
    // HTTP/1.0 has no interim responses.
    const old = DETECT.replace('HTTP/1.1', 'HTTP/1.0');
    expect(await answerTo(old)).toMatch(/^HTTP\/1\.1 200 [^]*"success"/);
  });
});

describe('a client that is gone aborts its detection', () => {
  const reset = (socket: Socket) => socket.resetAndDestroy();
  const close = (socket: Socket) => socket.destroy();
  const closeAfterShutdown = async (socket: Socket) => {
    socket.end();
    await once(socket, 'finish');
    socket.destroy();
  };

  test.each([
    ['reset', reset, DETECT],
    ['closed', close, DETECT],
    ['shut down, then closed', closeAfterShutdown, DETECT],
    ['closed behind a picture', close, sized(ROUTE, 'image/jpeg', JPEG)],
    ['closed behind chunks', close, chunked(ROUTE, 'application/json', IMAGE)],
    ['closed behind two requests', close, DETECT + DETECT],
  ])('%s', async (_name, leave, bytes) => {
    const signals: (AbortSignal | undefined)[] = [];
    app.detector.answer = ({ signal }) => {
      signals.push(signal);
      return new Promise((resolve) => {
        signal?.addEventListener('abort', () => {
          resolve(oneCar);
        });
      });
    };
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(bytes, 'latin1');
    const requests = bytes.split(ROUTE).length - 1;
    await expect.poll(() => signals.length).toBe(requests);
    expect(signals.map((signal) => signal?.aborted)).toEqual(signals.map(() => false));
    await leave(socket);
    await expect.poll(() => signals.every((signal) => signal?.aborted)).toBe(true);
  });
});
