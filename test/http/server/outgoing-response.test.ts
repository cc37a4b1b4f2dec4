/** Answers that come before their request has come whole, over real sockets. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose } from '../../support/composed-app.js';

const LIMIT = 100_000;
const JSON_TYPE = 'Content-Type: application/json';
const DETECT = 'POST /v1/inference/detect HTTP/1.1';
const REFUSALS: [string, string, number][] = [
  ['413, declared', `${DETECT}\r\n${JSON_TYPE}`, 413],
  ['415', DETECT, 415],
  ['404', `POST /nowhere HTTP/1.1\r\n${JSON_TYPE}`, 404],
  ['405', `PUT /v1/jobs/submit HTTP/1.1\r\n${JSON_TYPE}`, 405],
];

let server: Listening;

beforeEach(async () => {
  server = await listen(compose({ maxBodyBytes: LIMIT }), { host: '127.0.0.1', port: 0 });
});

afterEach(() => server.close(0));

interface Exchange {
  socket: Socket;
  answer: string;
  ended: boolean;
  error: Error | undefined;
}

function exchange(head: string): Exchange {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  const held: Exchange = { socket, answer: '', ended: false, error: undefined };
  socket.on('data', (chunk: Buffer) => (held.answer += chunk.toString()));
  socket.on('end', () => (held.ended = true));
  socket.on('error', (error) => (held.error = error));
  socket.write(`${head}\r\nHost: localhost\r\n\r\n`);
  return held;
}

/** Sends for longer than the half second after which such a connection was once cut. */
async function sendSlowly({ socket }: Exchange, piece: string, pieces: number): Promise<void> {
  for (let sent = 0; sent < pieces; sent += 1) {
    socket.write(piece);
    await sleep(100);
  }
}

describe('a refusal before the whole body has arrived', () => {
  test.each(REFUSALS)(
    '%s: the client can send to the end, then the connection closes',
    async (_name, head, status) => {
      const held = exchange(`${head}\r\nContent-Length: ${10 * LIMIT}`);
      await sendSlowly(held, ' '.repeat(LIMIT), 9);
      expect(held.answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(held.answer).toMatch(/^Connection: close\r$/im);
      expect(held.ended).toBe(false);
      held.socket.write(' '.repeat(LIMIT));
      await expect.poll(() => held.ended).toBe(true);
      expect(held.error).toBeUndefined();
      held.socket.destroy();
    },
  );

  test('413, chunked: the service reads the body beyond the limit too', async () => {
    const held = exchange(`${DETECT}\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked`);
    await sendSlowly(held, `8000\r\n${' '.repeat(0x8000)}\r\n`, 9);
    expect(held.answer).toMatch(/^HTTP\/1\.1 413 [^]*^Connection: close\r$/im);
    held.socket.write('0\r\n\r\n');
    await expect.poll(() => held.ended).toBe(true);
    expect(held.error).toBeUndefined();
    held.socket.destroy();
  });
});

const BODY = JSON.stringify({ image_path: 'a.jpg' });

test.each([
  ['the answer to a body that was read', `${DETECT}\r\n${JSON_TYPE}`, 0, 200],
  ['a refusal whose short body comes with the head', DETECT, 0, 415],
  ['a refusal whose short body comes later', DETECT, 700, 415],
])('%s keeps the connection', async (_name, head, waitMs, status) => {
  const held = exchange(`${head}\r\nContent-Length: ${BODY.length}`);
  await sleep(waitMs);
  held.socket.write(BODY);
  await expect
    .poll(() => held.answer)
    .toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*keep-alive[^]*}$`));
  held.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => held.answer).toMatch(/}HTTP\/1\.1 200 [^]*"ok"/);
  expect(held.error).toBeUndefined();
  held.socket.destroy();
});
