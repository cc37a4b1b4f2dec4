/** The listening server over real sockets: what `app.request()` cannot show. */
import { request, Agent, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose, type Harness } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';

const DETECT = '/v1/inference/detect';
const body = JSON.stringify({ image_path: 'a.jpg' });
let server: Listening | undefined;

afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

async function start(app: Harness = compose()): Promise<Listening> {
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  return server;
}

/** Writes raw bytes and gives all that comes back until the other side closes. */
function raw(port: number, bytes: string, keepOpenMs = 2_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setTimeout(keepOpenMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer);
    });
  });
}

const post = (port: number, agent?: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = { port, host: '127.0.0.1', path: DETECT, method: 'POST', headers };
    request(agent === undefined ? options : { ...options, agent }, resolve)
      .on('error', reject)
      .end(body);
  });

test('the server answers on its reported port', async () => {
  const { url, port } = await start();
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const response = await fetch(url + DETECT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ status: 'success', total_count: 1 });
});

test('an unusable address is refused with the setting to change', async () => {
  const { port } = await start();
  await expect(listen(compose(), { host: '127.0.0.1', port })).rejects.toThrow(
    `Cannot listen on 127.0.0.1 port ${port}: another process uses it; set LATTICE_PORT to a free one.`,
  );
  await expect(listen(compose(), { host: '192.0.2.1', port: 0 })).rejects.toThrow('LATTICE_HOST');
});

test('idle connections stay open longer than those of common clients and proxies', async () => {
  const { port } = await start();
  const agent = new Agent({ keepAlive: true });
  const { headers } = await post(port, agent);
  const [, seconds] = /^timeout=(\d+)$/.exec(String(headers['keep-alive'])) ?? [];
  expect(Number(seconds)).toBeGreaterThan(120);
  agent.destroy();
});

describe('bodies', () => {
  test('of 10 MB are refused, declared and chunked, and the service continues', async () => {
    const { url, port } = await start();
    const large = Buffer.alloc(10 * 1024 * 1024, 0x20);
    const send = (chunked: boolean): Promise<number> =>
      new Promise((resolve) => {
        const headers: Record<string, string | number> = { 'content-type': 'application/json' };
        if (!chunked) headers['content-length'] = large.length;
        const outgoing = request(
          { port, host: '127.0.0.1', path: '/v1/jobs/submit', method: 'POST', headers },
          (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          },
        );
        // The server may cut the upload once it has answered.
        outgoing.on('error', () => undefined);
        for (let at = 0; at < large.length; at += 65_536) {
          outgoing.write(large.subarray(at, at + 65_536));
        }
        outgoing.end();
      });
    expect(await send(false)).toBe(413);
    expect(await send(true)).toBe(413);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  describe('announced with Expect: 100-continue', () => {
    const announce = (length: string, expect_ = '100-continue') =>
      `POST ${DETECT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `${length}\r\nExpect: ${expect_}\r\n\r\n`;

    test('a body that is too long is refused before it is sent, and the connection is closed', async () => {
      const { port } = await start(compose({ maxBodyBytes: 100 }));
      const answer = await raw(port, announce('Content-Length: 101'));
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer.toLowerCase()).toContain('connection: close');
      expect(answer).toContain('"code":"body_too_large"');
      expect(answer).not.toContain('100 Continue');
    });

    test.each([
      ['of the limit', 'Content-Length: 100', body.padEnd(100)],
      [
        'in chunks',
        'Transfer-Encoding: chunked',
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ],
    ])('a body %s is requested and read', async (_name, length, sent) => {
      const { port } = await start(compose({ maxBodyBytes: 100 }));
      const socket = connect(port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.write(announce(length));
      await expect.poll(() => answer).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(sent);
      await expect.poll(() => answer).toMatch(/ 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*"success"/);
      socket.destroy();
    });

    test('another expectation is refused', async () => {
      const { port } = await start();
      const answer = await raw(port, announce('Content-Length: 9', 'miracles'), 200);
      expect(answer).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n/);
      expect(answer).toContain('"code":"bad_request"');
      expect(answer).toContain('"status":417');
    });
  });

  test('a small chunked body is read', async () => {
    const { port } = await start();
    const answer = await raw(
      port,
      `POST ${DETECT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
        `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test.each(['GET /healthz HTTP/1.0\r\n\r\n', 'OPTIONS /healthz HTTP/1.0\r\n\r\n'])(
  'HTTP/1.0 needs no Host, as balancers probe health: %j',
  async (bytes) => {
    const { port } = await start();
    const answer = await raw(port, bytes);
    expect(answer).toMatch(bytes.startsWith('GET') ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 405 /);
  },
);

describe('malformed requests', () => {
  test.each([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a Host that is no host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    [
      'both lengths',
      `POST ${DETECT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
    ],
    [
      '17 KB of headers',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
    ],
  ])('%s is refused', async (_name, bytes, status) => {
    const { port } = await start();
    expect(await raw(port, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test('the answer to a Host that cannot be read is a problem', async () => {
    const { port } = await start();
    const answer = await raw(port, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    expect(answer).toContain('"code":"bad_request"');
  });

  test('an encoded dot-dot in the URL reaches no file', async () => {
    const { port } = await start();
    for (const path of ['/docs/..%2f..%2fpackage.json', '/docs/%2e%2e/package.json', '/../x']) {
      const answer = await raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    }
  });
});

test('a client that disconnects aborts its detection', async () => {
  const app = compose();
  let signal: AbortSignal | undefined;
  app.detector.answer = (request_) => {
    signal = request_.signal;
    return new Promise((resolve) => {
      request_.signal?.addEventListener('abort', () => {
        resolve(oneCar);
      });
    });
  };
  const { port } = await start(app);
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(
      `POST ${DETECT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  await expect.poll(() => signal).toBeDefined();
  expect(signal?.aborted).toBe(false);
  socket.destroy();
  await expect.poll(() => signal?.aborted).toBe(true);
});

test('a client that disconnects inside its body causes no error of the service', async () => {
  const app = compose();
  const { port } = await start(app);
  for (const framing of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST ${DETECT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}\r\n\r\n5\r\n{"im`,
      );
    });
    setTimeout(() => socket.destroy(), 50);
  }
  await expect.poll(() => app.observed.map(({ status }) => status)).toEqual([400, 400]);
  expect(app.logged).toEqual([]);
});

describe('close', () => {
  test('lets a request in hand end, accepts no new one, and frees the port', async () => {
    const app = compose();
    let finish: (() => void) | undefined;
    app.detector.answer = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve(oneCar);
        };
      });
    const { port } = await start(app);
    const agent = new Agent({ keepAlive: true });
    const pending = post(port, agent);
    await expect.poll(() => finish).toBeDefined();
    // Longer than a test may take.
    const closed = server!.close(600_000);
    await expect(post(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    finish!();
    const answer = await pending;
    expect(answer.statusCode).toBe(200);
    expect(await text(answer)).toContain('"success"');
    await closed;
    agent.destroy();
  });

  test('closes remaining connections at the deadline', async () => {
    const app = compose();
    app.detector.answer = () => new Promise(() => undefined);
    const { port } = await start(app);
    const pending = post(port).catch((error: unknown) => error);
    await expect.poll(() => app.detector.requests.length).toBe(1);
    await server!.close(100);
    expect(await pending).toMatchObject({ code: 'ECONNRESET' });
  });
});
