import { randomBytes } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { MAX_ANSWER_BYTES } from '../../src/webhooks/post-webhook.js';
import { type WebhookOptions, WebhookWorker } from '../../src/webhooks/webhook-worker.js';
import { MemoryQueue } from './memory-queue.js';
import { answerWith, startReceiver, type Receiver } from './receiver.js';
import { eventually } from '../support/eventually.js';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const RECORD = { job_id: 'job-1', type: 'completed', result: { car_count: 2 }, metadata: null };
const QUICK = [0, 0.02, 0.04];
const LONGER_THAN_A_TEST_MS = 3_600_000;

const open: (WebhookWorker | Receiver)[] = [];
afterEach(async () => {
  for (const item of open.splice(0)) {
    if ('stop' in item) await item.stop(0);
    else await item[Symbol.asyncDispose]();
  }
});

function start(queue: MemoryQueue, options: Partial<WebhookOptions> = {}): WebhookWorker {
  const worker = new WebhookWorker({
    queue,
    body: () => Promise.resolve({ type: 'job.completed', json: JSON.stringify(RECORD) }),
    config: { env: 'development', webhookSecret: SECRET, webhookAllow: [] },
    logger: pino({ level: 'silent' }),
    schedule: QUICK,
    timeoutMs: LONGER_THAN_A_TEST_MS,
    ...options,
  });
  open.unshift(worker);
  return worker;
}

async function receive(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...args);
  open.push(receiver);
  return receiver;
}

/** Delivers one webhook to an end and gives what the queue then says of it. */
async function outcomeOf(receiver: { url: string }, options: Partial<WebhookOptions> = {}) {
  const queue = new MemoryQueue();
  start(queue, options);
  const id = queue.add(receiver.url);
  await eventually(() => {
    expect(queue.get(id).state).not.toBe('pending');
  });
  return queue.get(id);
}

test('a delivery carries the event, the record and a signature that verifies', async () => {
  const receiver = await receive(answerWith(204));
  const row = await outcomeOf(receiver);
  expect(row).toMatchObject({ state: 'delivered', lastStatus: 204, attempt: 1 });
  const [received] = receiver.received;
  expect(received).toMatchObject({ method: 'POST', path: '/hook?from=test' });
  const headers = received!.headers as Record<string, string>;
  expect(headers['webhook-id']).toBe(row.deliveryId);
  expect(headers['content-type']).toBe('application/json');
  expect(headers['accept-encoding']).toBe('identity');
  expect(new Webhook(SECRET).verify(received!.body, headers)).toEqual({
    type: 'job.completed',
    timestamp: new Date(row.createdAt * 1000).toISOString(),
    data: RECORD,
  });
  expect(received!.body).toContain(`"data":${JSON.stringify(RECORD)}}`);
  expect(() => new Webhook(SECRET).verify(`${received!.body} `, headers)).toThrow(/signature/i);
});

test('a failed job is told as job.failed; without a secret nothing is signed', async () => {
  const receiver = await receive(answerWith(200));
  await outcomeOf(receiver, {
    body: () => Promise.resolve({ type: 'job.failed', json: '{}' }),
    config: { env: 'development', webhookSecret: '', webhookAllow: [] },
  });
  const [received] = receiver.received;
  expect(JSON.parse(received!.body)).toMatchObject({ type: 'job.failed' });
  expect(received!.headers['webhook-signature']).toBeUndefined();
});

test('while a secret is rotated, a receiver can verify with the old and with the new one', async () => {
  const next = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = await receive(answerWith(200));
  await outcomeOf(receiver, {
    config: { env: 'development', webhookSecret: `${next} ${SECRET}`, webhookAllow: [] },
  });
  const { body, headers } = receiver.received[0]!;
  for (const secret of [next, SECRET]) {
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
  }
});

test('a receiver that answers 500 twice gets the same id and body until it answers 200', async () => {
  const receiver = await receive((response) => {
    response.writeHead(receiver.received.length < 3 ? 500 : 200).end();
  });
  const row = await outcomeOf(receiver);
  expect(row).toMatchObject({ state: 'delivered', attempt: 3 });
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
});

test('after the last attempt the delivery is given up with the last status', async () => {
  const receiver = await receive(answerWith(503));
  const row = await outcomeOf(receiver);
  expect(row).toMatchObject({ state: 'gave_up', attempt: 3, lastStatus: 503 });
  expect(receiver.received).toHaveLength(3);
});

test('410 gives up at once', async () => {
  const receiver = await receive(answerWith(410));
  expect(await outcomeOf(receiver)).toMatchObject({
    state: 'gave_up',
    attempt: 1,
    lastStatus: 410,
  });
});

test('a redirect is a failure and is not followed', async () => {
  const elsewhere = await receive(answerWith(200));
  const receiver = await receive(answerWith(302, { location: elsewhere.url }));
  const row = await outcomeOf(receiver);
  expect(row).toMatchObject({ state: 'gave_up', lastStatus: 302 });
  expect(row.lastError).toMatch(/redirects are not followed/);
  expect(elsewhere.received).toHaveLength(0);
});

test('Retry-After of a 429 puts the next attempt off', async () => {
  const receiver = await receive((response) => {
    if (receiver.received.length > 1) response.writeHead(200).end();
    else response.writeHead(429, { 'retry-after': '1' }).end();
  });
  expect(await outcomeOf(receiver)).toMatchObject({ state: 'delivered', attempt: 2 });
  const [first, second] = receiver.received;
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(990);
});

test.each([
  ['hangs', () => undefined, /No answer within 0.5 s/],
  [
    'resets the connection',
    (_: unknown, __: unknown, request: { socket: { resetAndDestroy(): void } }) => {
      request.socket.resetAndDestroy();
    },
    /ECONNRESET|hang up/,
  ],
] as const)('a receiver that %s is retried, then given up', async (_name, answer, error) => {
  const receiver = await receive(answer);
  const row = await outcomeOf(receiver, { schedule: [0, 0.01], timeoutMs: 500 });
  expect(row).toMatchObject({ state: 'gave_up', attempt: 2, lastStatus: null });
  expect(row.lastError).toMatch(error);
  expect(receiver.received).toHaveLength(2);
});

test('an endless body is cut off; its status still counts', async () => {
  let written = 0;
  const receiver = await receive((response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = () => {
      while (!response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) break;
      }
    };
    response
      .writeHead(200)
      .on('drain', more)
      .on('error', () => undefined);
    more();
  });
  expect(await outcomeOf(receiver)).toMatchObject({ state: 'delivered' });
  // The bytes beyond the limit that left the server were in socket buffers, not in this process.
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('a compressed answer is read as bytes up to the limit, never decoded', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024));
  expect(bomb.length).toBeLessThan(MAX_ANSWER_BYTES);
  const receiver = await receive((response) => {
    response.writeHead(200, { 'content-encoding': 'br' }).end(bomb);
  });
  const before = process.memoryUsage().rss;
  expect(await outcomeOf(receiver)).toMatchObject({ state: 'delivered', lastStatus: 200 });
  expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
});

test('a body that breaks off after the status does not change the outcome', async () => {
  const receiver = await receive((response, _received, request) => {
    response.writeHead(200, { 'content-length': '1000' }).write('part');
    setTimeout(() => request.socket.resetAndDestroy(), 20);
  });
  expect(await outcomeOf(receiver)).toMatchObject({ state: 'delivered', attempt: 1 });
});

test('a hanging host holds at most ten places and other hosts are served meanwhile', async () => {
  const hanging = await receive(() => undefined);
  const good = await receive(answerWith(200));
  const queue = new MemoryQueue();
  for (let i = 0; i < 300; i++) queue.add(hanging.url);
  start(queue);
  const ids = Array.from({ length: 20 }, () => queue.add(good.url));
  await eventually(() => {
    for (const id of ids) expect(queue.get(id).state).toBe('delivered');
  });
  expect(hanging.peak).toBe(10);
  // 20 wakes at least; each reads what can be sent, not the 290 that wait for the hanging host.
  expect(queue.read).toBeLessThan(300);
});

test('at most fifty attempts run at once', async () => {
  const hanging = await Promise.all(Array.from({ length: 7 }, () => receive(() => undefined)));
  const queue = new MemoryQueue();
  for (const { url } of hanging) for (let i = 0; i < 12; i++) queue.add(url);
  start(queue);
  const inFlight = () => hanging.reduce((sum, { received }) => sum + received.length, 0);
  await eventually(() => {
    expect(inFlight()).toBe(50);
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(inFlight()).toBe(50);
});

test('a refused POST is not repeated because the outcome could not be stored', async () => {
  const receiver = await receive(answerWith(200));
  const queue = new MemoryQueue();
  queue.refusals = 1;
  const worker = start(queue);
  const id = queue.add(receiver.url);
  await eventually(() => {
    expect(queue.refusals).toBe(0);
  });
  await eventually(() => {
    expect(queue.get(id).state).toBe('delivered');
  });
  expect(receiver.received).toHaveLength(1);
  await worker.stop(0);
});

test('a job that is no longer kept is given up without a request', async () => {
  const receiver = await receive(answerWith(200));
  const row = await outcomeOf(receiver, { body: () => Promise.resolve(null) });
  expect(row).toMatchObject({ state: 'gave_up', lastError: 'The result is no longer kept' });
  expect(receiver.received).toHaveLength(0);
});

test('stop lets an attempt in hand end', async () => {
  const receiver = await receive((response) => {
    setTimeout(() => response.writeHead(200).end(), 150);
  });
  const queue = new MemoryQueue();
  const worker = start(queue);
  const id = queue.add(receiver.url);
  await eventually(() => {
    expect(receiver.received).toHaveLength(1);
  });
  await worker.stop(5_000);
  expect(queue.get(id).state).toBe('delivered');
  queue.add(receiver.url);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(receiver.received).toHaveLength(1);
});

test('stop aborts an attempt at its deadline and leaves it pending; the next worker sends it again', async () => {
  let hang = true;
  const receiver = await receive((response) => {
    if (!hang) response.writeHead(200).end();
  });
  const queue = new MemoryQueue();
  const worker = start(queue);
  const id = queue.add(receiver.url);
  await eventually(() => {
    expect(receiver.received).toHaveLength(1);
  });
  await worker.stop(50);
  expect(queue.get(id)).toMatchObject({ state: 'pending', attempt: 0 });
  hang = false;
  start(queue);
  await eventually(() => {
    expect(queue.get(id).state).toBe('delivered');
  });
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
});

test('each attempt is reported once, for the metrics', async () => {
  const outcomes: string[] = [];
  const receiver = await receive((response) => {
    response.writeHead(receiver.received.length < 2 ? 500 : 200).end();
  });
  await outcomeOf(receiver, { onAttempt: (outcome) => outcomes.push(outcome) });
  expect(outcomes).toEqual(['retry', 'succeeded']);
});

test.each(['whsec_short', 'not base64!', 'whsec_'])(
  'the secret %j is refused at start',
  (secret) => {
    const config = { env: 'development' as const, webhookSecret: secret, webhookAllow: [] };
    expect(() => start(new MemoryQueue(), { config })).toThrow(/LATTICE_WEBHOOK_SECRET/);
  },
);
