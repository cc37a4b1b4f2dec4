/** When a connection is closed, over real sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { listen, type ConnectionLimits, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const DOCUMENT = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';
const body = JSON.stringify({ image_path: 'a.jpg' });
const DETECT =
  'POST /v1/inference/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
  `Content-Length: ${body.length}\r\n\r\n${body}`;

let server: Listening | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0);
  server = undefined;
});

async function start(app: Harness, limits: Partial<ConnectionLimits> = {}): Promise<void> {
  server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
}

/** A client that never closes its side. */
class Client {
  readonly socket: Socket;
  answer = '';

  constructor(read = true) {
    this.socket = connect({ port: server!.port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    if (read) this.socket.on('data', (chunk: Buffer) => (this.answer += chunk.toString()));
    sockets.push(this.socket);
  }
}

/** Only the clients' sockets of this process are left. The clients stay silent: a byte would end some connections too. */
async function serverSocketsGone(timeout: number): Promise<void> {
  const open = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap');
  await expect.poll(() => open().length, { timeout }).toBe(sockets.length);
}

describe('a connection that the server has ended is destroyed although the client stays', () => {
  test('after a 408', async () => {
    await start(compose(), { headersTimeout: 100, connectionsCheckingInterval: 50 });
    const client = new Client();
    await expect.poll(() => client.answer).toMatch(/^HTTP\/1\.1 408 /);
    await serverSocketsGone(3_000);
  });

  test.each([
    [
      'an unknown path',
      '/nowhere',
      ['Host: localhost', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
      404,
    ],
    ['a foreign origin', '/v1/stream', ['Host: localhost', 'Origin: https://evil.example'], 403],
    ['a foreign host', '/v1/stream', ['Host: evil.example'], 403],
    ['a key that is none', '/v1/stream', ['Host: localhost', 'Sec-WebSocket-Key: none'], 400],
  ])('after an upgrade refused for %s', async (_name, path, headers, status) => {
    await start(compose({ env: 'production' }));
    const client = new Client();
    client.socket.write(
      `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await expect.poll(() => client.answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await serverSocketsGone(3_000);
  });
});

describe('a client that reads nothing is cut off', () => {
  test('with pipelined requests', async () => {
    await start(compose(), { unreadTimeout: 300 });
    const client = new Client(false);
    client.socket.write(DOCUMENT.repeat(500));
    await once(client.socket, 'connect');
    await serverSocketsGone(5_000);
  });

  test('and with a refused upgrade after them', async () => {
    await start(compose(), { unreadTimeout: 300 });
    const client = new Client(false);
    client.socket.write(
      `${DOCUMENT.repeat(500)}GET /nowhere HTTP/1.1\r\nHost: localhost\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    await serverSocketsGone(5_000);
  });

  test('but a client that waits for its answer is not', async () => {
    const app = compose();
    app.detector.answer = () => new Promise((resolve) => setTimeout(resolve, 1_000, oneCar));
    await start(app, { unreadTimeout: 200, keepAliveTimeout: 100 });
    const client = new Client();
    client.socket.write(DETECT);
    await expect.poll(() => client.answer, { timeout: 3_000 }).toContain('"success"');
    // Node adds a second to the time for which an idle connection is kept.
    await once(client.socket, 'end');
  });
});

describe('a stop', () => {
  test('sends a complete answer to its end', async () => {
    await start(compose());
    const client = new Client(false);
    client.socket.write(DOCUMENT.repeat(150));
    await once(client.socket, 'connect');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const closed = server!.close(20_000);
    client.socket.on('data', (chunk: Buffer) => (client.answer += chunk.toString()));
    await Promise.all([closed, once(client.socket, 'end')]);
    const answers = client.answer.split('HTTP/1.1 200 OK').slice(1);
    expect(answers.length).toBeGreaterThan(1);
    expect(new Set(answers.map((answer) => answer.slice(answer.indexOf('{')))).size).toBe(1);
  });

  test.each([
    ['an idle connection', ''],
    ['half a head', HEALTH.slice(0, 20)],
    ['half a second head', HEALTH + HEALTH.slice(0, 20)],
    [
      'a refused upgrade',
      HEALTH.replace('\r\n\r\n', '\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ],
  ])('does not wait for %s', async (_name, bytes) => {
    await start(compose());
    const client = new Client();
    await once(client.socket, 'connect');
    client.socket.write(bytes);
    if (bytes.length > 30) await once(client.socket, 'data');
    // Longer than a test may take.
    await server!.close(600_000);
  });
});
