/** When a connection is closed, over real sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { listen, type ConnectionLimits, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const DOCUMENT = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';
const body = JSON.stringify({ image_path: 'a.jpg' });
const HALF_BODY = 'Content-Length: 500000\r\n\r\n{"im';
const POST =
  'POST /v1/inference/detect HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const DETECT = `${POST}Content-Length: ${body.length}\r\n\r\n${body}`;
/** From a client that leaves the closing unanswered. */
const WEB_SOCKET =
  'GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n' +
  'Sec-WebSocket-Protocol: lattice, bearer.lat_alice_0123456789abcdef\r\n\r\n';

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

  constructor(read = true, localAddress = '127.0.0.1') {
    const address = { port: server!.port, host: '127.0.0.1', localAddress };
    this.socket = connect({ ...address, allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    if (read) this.socket.on('data', (chunk: Buffer) => (this.answer += chunk.toString()));
    sockets.push(this.socket);
  }
}

/**
 * Only the clients' sockets of this process are left. The clients stay silent: a byte would end some connections too.
 */
async function serverSocketsGone(): Promise<void> {
  const open = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap');
  await expect.poll(() => open().length).toBe(sockets.length);
}

describe('a connection that the server has ended is destroyed although the client stays', () => {
  test('after a 408', async () => {
    await start(compose(), { headersTimeout: 100, connectionsCheckingInterval: 50 });
    const client = new Client();
    await expect.poll(() => client.answer).toMatch(/^HTTP\/1\.1 408 /);
    await serverSocketsGone();
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
    await serverSocketsGone();
  });
});

describe('a client that reads nothing is cut off', () => {
  test('with pipelined requests', async () => {
    await start(compose(), { unreadTimeout: 300 });
    const client = new Client(false);
    client.socket.write(DOCUMENT.repeat(500));
    await once(client.socket, 'connect');
    await serverSocketsGone();
  });

  test('and with a refused upgrade after them', async () => {
    await start(compose(), { unreadTimeout: 300 });
    const client = new Client(false);
    client.socket.write(
      `${DOCUMENT.repeat(500)}GET /nowhere HTTP/1.1\r\nHost: localhost\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    await serverSocketsGone();
  });

  test('but a client that waits for its answer is not', async () => {
    const app = compose();
    app.detector.answer = () => new Promise((resolve) => setTimeout(resolve, 1_000, oneCar));
    await start(app, { unreadTimeout: 200, keepAliveTimeout: 100 });
    const client = new Client();
    client.socket.write(DETECT);
    await expect.poll(() => client.answer).toContain('"success"');
    // Node adds a second to the time for which an idle connection is kept.
    await once(client.socket, 'end');
  });
});

describe('where there is no room for another connection', () => {
  const most = 10;
  const silent = async (count: number, localAddress: string, bytes = '') => {
    const clients = Array.from({ length: count }, () => new Client(true, localAddress));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    for (const { socket } of clients) socket.write(bytes);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return clients;
  };
  const open = (clients: Client[]) =>
    clients.filter(({ socket }) => !socket.closed && !socket.readableEnded).length;

  test.each([
    ['nothing', ''],
    ['half a head', HEALTH.slice(0, 20)],
    ['half a body', POST + HALF_BODY],
  ])('clients that sent %s make room, those with most first', async (_name, bytes) => {
    const app = compose();
    let finish: () => void = () => undefined;
    app.detector.answer = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(oneCar);
        };
      });
    await start(app, { connections: most });
    const working = new Client();
    working.socket.write(DETECT);
    await expect.poll(() => app.detector.requests.length).toBe(1);
    const others = await silent(3, '127.0.0.2', bytes);
    const many = await silent(3 * most, '127.0.0.1', bytes);
    await expect.poll(() => open(many)).toBe(most - 4);
    for (const address of ['127.0.0.1', '127.0.0.3']) {
      const client = new Client(true, address);
      client.socket.write(HEALTH);
      await expect.poll(() => client.answer).toContain('"ok"');
    }
    expect(open(others)).toBe(3);
    finish();
    await expect.poll(() => working.answer).toContain('"success"');
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
    await server!.close(3_600_000);
  });

  test('answers what was accepted and goes, before limits of connections end, beside 50 clients of each bad kind', async () => {
    const key = 'X-API-Key: lat_alice_0123456789abcdef\r\n';
    const picture = POST.replace('application/json', 'image/jpeg') + key;
    const unknown = key.replace('alice', 'other');
    const bad = [
      POST + key + HALF_BODY,
      `${picture}Content-Length: 90000\r\n\r\n\xff\xd8`,
      `${POST}${key}Transfer-Encoding: chunked\r\n\r\n500\r\n{"im`,
      HEALTH.replace('\r\n\r\n', `\r\n${HALF_BODY}`),
      // After its 401, and while the 401 is held back because several came before it.
      POST + HALF_BODY,
      `${POST}${unknown}Content-Length: 2\r\n\r\n{}`,
      DOCUMENT.repeat(200),
      WEB_SOCKET,
    ];
    const stopping = new AbortController();
    const app = compose(
      {},
      { apiKeys: ApiKeys.parse('lat_alice_0123456789abcdef', stopping.signal) },
    );
    const held = new Promise<typeof oneCar>((resolve) => {
      stopping.signal.addEventListener('abort', () => setTimeout(resolve, 2_500, oneCar));
    });
    app.detector.answer = () => held;
    await start(app, { headersTimeout: 3_600_000, requestTimeout: 3_600_000 });
    const accepted = new Client();
    accepted.socket.write(DETECT.replace('\r\n', `\r\n${key}`));
    for (const bytes of bad) {
      for (let i = 0; i < 50; i += 1) new Client(false).socket.write(bytes, 'latin1');
    }
    await expect.poll(() => app.observed.length).toBeGreaterThan(200);
    stopping.abort();
    await server!.close(3_600_000);
    await expect.poll(() => accepted.answer).toMatch(/^HTTP\/1\.1 200 [^]*"success"/);
    expect(accepted.answer).toMatch(/^connection: close\r$/im);
  });

  test('ends a connection on which requests go on arriving', async () => {
    await start(compose());
    const client = new Client();
    const sending = setInterval(() => client.socket.write(HEALTH.repeat(20)), 1);
    await expect.poll(() => client.answer).toContain('"ok"');
    await server!.close(3_600_000);
    clearInterval(sending);
  });
});
