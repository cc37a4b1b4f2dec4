/** Requests that ask for another protocol, over real sockets. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';

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

/** What comes back for `parts`, each sent on its own, once `done` matches it. */
async function answerTo(parts: readonly string[], done: RegExp): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setNoDelay();
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await expect.poll(() => answer).toMatch(done);
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
