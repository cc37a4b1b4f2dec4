/** How many may listen, how fast they may talk, how far they may fall behind, and how they are told to go. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import type { JobEvent } from '../../src/store/job.js';
import { compose, type Harness, submitted } from '../support/composed-app.js';
import { HeldJobs } from '../support/held-jobs.js';
import { StreamConnection } from './stream-connection.js';

const job = { job_type: 'detect_cars', image_paths: ['a.jpg'] };
let jobs: HeldJobs;
let app: Harness;
let server: Listening;
/** To all clients, as if the store had committed it. */
let emit: (event: JobEvent) => void;

const open = (): Promise<StreamConnection> => StreamConnection.open(server.url);

const submit = () => submitted(app, job);

beforeEach(async () => {
  jobs = await HeldJobs.open();
  const onEvent = jobs.service.onEvent.bind(jobs.service);
  jobs.service.onEvent = (listener) => {
    emit = listener;
    return onEvent(listener);
  };
  app = compose({}, {}, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
});

test('300 clients each get every event, serialised once', async () => {
  const clients = await Promise.all(Array.from({ length: 300 }, open));
  await expect.poll(() => app.stream.clientCount).toBe(300);
  const stringify = vi.spyOn(JSON, 'stringify');
  for (let count = 0; count < 20; count += 1) {
    await jobs.service.cancel(await submit(), null);
  }
  const events = stringify.mock.calls.filter(
    ([value]) => typeof value === 'object' && value !== null && 'seq' in value,
  );
  stringify.mockRestore();
  expect(events).toHaveLength(40);
  for (const client of clients) {
    const messages = await client.take(40);
    expect(messages.map(({ seq }) => seq)).toEqual([...Array(40).keys()].map((n) => n + 1));
  }
});

test('a frame of 64 KiB is read, one byte more closes 1009', async () => {
  const client = await open();
  const frame = (size: number) => JSON.stringify({ action: 'ping', id: 'x' }).padEnd(size);
  client.send(frame(65_536));
  expect((await client.take(1))[0]).toMatchObject({ event: 'pong', id: 'x' });
  client.send(frame(65_537));
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test('more than 50 messages per second are closed 1008, a burst is not', async () => {
  const [steady, rude] = [await open(), await open()];
  for (let count = 0; count < 90; count += 1) steady.send({ action: 'ping' });
  expect(await steady.take(90)).toHaveLength(90);
  for (let count = 0; count < 300; count += 1) rude.send({ action: 'ping' });
  expect(await rude.closed).toMatchObject({ code: 1008 });
  expect(rude.messages.length).toBeLessThan(150);
  await steady.settled();
});

test('a reader that stops reading is cut off, others miss nothing', async () => {
  const [slow, fast] = [await open(), await open()];
  const id = await submit();
  slow.socket.pause();
  const error = new LatticeError('all_images_failed', 'x'.repeat(100_000)).toProblem();
  const ended = { event: 'job_failed', jobId: id, status: 'failed', keyId: null, error } as const;
  let sent = 0;
  while (app.stream.clientCount === 2 && sent < 400) {
    sent += 1;
    emit({ ...ended, timestamp: 0, seq: sent + 1, progress: 1, failedImages: 1, reusedImages: 0 });
    if (sent % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
    if (sent > 200) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(app.stream.clientCount).toBe(1);
  expect((await fast.take(sent + 1)).length).toBe(sent + 1);
  slow.socket.resume();
  expect([1006, 1013]).toContain((await slow.closed).code);
});

test('closing the server tells every client 1001', async () => {
  const clients = await Promise.all([open(), open()]);
  await expect.poll(() => app.stream.clientCount).toBe(2);
  await server.close(60_000);
  for (const client of clients) expect(await client.closed).toMatchObject({ code: 1001 });
});

test('a stopping service takes no new client', async () => {
  app.state.draining = true;
  const client = await open();
  expect(await client.closed).toMatchObject({ code: 1013 });
});

test('a socket opened and gone before its first message leaves nothing behind', async () => {
  for (let count = 0; count < 50; count += 1) {
    const client = await open();
    client.send({ action: 'submit', payload: job });
    client.socket.terminate();
  }
  await expect.poll(() => app.stream.clientCount).toBe(0);
});
