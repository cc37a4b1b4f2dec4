/** Requests that ask for another protocol, over real sockets. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';

const UPGRADE =
  'Host: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n';
const BODY = JSON.stringify({ image_path: 'a.jpg' });
const DETECT =
  `POST /v1/inference/detect HTTP/1.1\r\n${UPGRADE}Content-Type: application/json\r\n` +
  `Content-Length: ${BODY.length}\r\n\r\n`;

let app: Harness;
let server: Listening;

beforeEach(async () => {
  app = compose();
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterEach(() => server.close(0));

/** The answer to `parts`, each sent on its own, once `done` matches it or is the number of complete answers. */
async function answerTo(parts: readonly string[], done: RegExp | number): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setNoDelay();
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const complete = () => answer.split(/}(?=HTTP|$)/).length - 1;
  if (typeof done === 'number') await expect.poll(complete).toBe(done);
  else await expect.poll(() => answer).toMatch(done);
  socket.destroy();
  return answer;
}

describe('a request to upgrade to HTTP/2, as Java sends each time, is ignored', () => {
  test('without a body', async () => {
    const answer = await answerTo([`GET /healthz HTTP/1.1\r\n${UPGRADE}\r\n`], /"status":"ok"/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['at once', [DETECT + BODY]],
    ['after the head', [DETECT, BODY]],
    ['in parts', [DETECT + BODY.slice(0, 4), BODY.slice(4, 9), BODY.slice(9)]],
  ])('with a body that comes %s', async (_name, parts) => {
    expect(await answerTo(parts, /"success"/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('and the connection goes on', async () => {
    const health = `GET /healthz HTTP/1.1\r\n${UPGRADE}\r\n`;
    const answer = await answerTo([DETECT + BODY, health, health], /("ok"[^]*){2}/);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
  });

  const HEALTH = `GET /healthz HTTP/1.1\r\n${UPGRADE}\r\n`;
  const PLAIN = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const CHUNKED =
    DETECT.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked') +
    `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

  test.each([
    ['two', HEALTH.repeat(2), 2],
    ['five', HEALTH.repeat(5), 5],
    ['fifty', HEALTH.repeat(50), 50],
    ['a detection and two behind it', DETECT + BODY + HEALTH.repeat(2), 3],
    ['detections in chunks', CHUNKED.repeat(3), 3],
    ['some without the header', PLAIN + HEALTH + PLAIN + CHUNKED + PLAIN + DETECT + BODY, 6],
  ])('and all requests of one write are answered: %s', async (_name, bytes, count) => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const answer = await answerTo([bytes], count);
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(count);
    expect(answer).toMatch(/"(?:ok|success)"[^]*}$/);
    process.off('warning', note);
    // No warning of listeners that are left behind.
    expect(warnings).toEqual([]);
  });

  test('and the answers come in the order of the requests, also behind a slow one', async () => {
    let finish: () => void = () => undefined;
    app.detector.answer = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(oneCar);
        };
      });
    const socket = connect(server.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    const plain = DETECT.replace(UPGRADE, 'Host: localhost\r\n');
    socket.end(plain + BODY + HEALTH + plain + BODY + HEALTH);
    for (const detections of [1, 2]) {
      await expect.poll(() => app.detector.requests.length).toBe(detections);
      finish();
    }
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer.match(/"success"|"ok"/g)).toEqual(['"success"', '"ok"', '"success"', '"ok"']);
  });

  test('and a client that resets its connection meanwhile harms nobody', async () => {
    app.detector.answer = () => new Promise(() => undefined);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(DETECT + BODY + HEALTH);
    await expect.poll(() => app.detector.requests.length).toBe(1);
    const { signal } = app.detector.requests[0]!;
    socket.resetAndDestroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    expect(await answerTo([HEALTH], /"ok"/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('also where the head is as long as a head may be', async () => {
    const free = 16 * 1024 - HEALTH.length;
    for (const [more, status] of [
      [-100, 200],
      [100, 431],
    ] as const) {
      const long = HEALTH.replace('Host:', `X:${'x'.repeat(free + more - 4)}\r\nHost:`);
      const answer = await answerTo([long], /HTTP\/1\.1 \d+ [^]*}$/);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });

  test('and a WebSocket may be opened behind it', async () => {
    const open =
      'GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
      'Sec-WebSocket-Protocol: lattice\r\n\r\n';
    const answer = await answerTo([HEALTH + open], /"ok"[^]*HTTP\/1\.1 101 /);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a body beyond the limit is refused', async () => {
    const long = DETECT.replace(/Length: \d+/, 'Length: 90000000');
    expect(await answerTo([long], /body_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('and no connection is left open at a stop', async () => {
    await answerTo([`GET /healthz HTTP/1.1\r\n${UPGRADE}\r\n`], /"ok"/);
    // Longer than a test may take.
    await server.close(600_000);
  });
});

test('a WebSocket is opened as before', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/stream`);
  const answer = new Promise((resolve) => {
    socket.on('message', (data: Buffer) => {
      resolve(JSON.parse(data.toString()));
    });
  });
  socket.on('open', () => {
    socket.send('{"action":"ping"}');
  });
  expect(await answer).toMatchObject({ event: 'pong' });
  socket.terminate();
});

test('a tunnel is not opened', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
  await new Promise((resolve) => socket.resume().once('close', resolve));
  expect(app.observed).toEqual([]);
});
