/** The socket of a running service: submissions, order of events, subscriptions, replay over a restart, errors. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  DEMO,
  FEW_THREADS,
  jobsEnded,
  resultOf,
  submit,
  writeEnlarged,
} from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { StreamConnection, type Message } from '../stream/stream-connection.js';

let folder: string;
let service: ServiceProcess;
let options: Parameters<typeof startService>[0];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-stream-'));
  await writeEnlarged(join(folder, 'large.png'), 4);
  options = {
    dataDir: join(folder, 'data'),
    env: { ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` },
  };
  service = await startService(options);
});

beforeEach(() => jobsEnded(service.url));

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Messages up to the last that a job sends. */
async function untilEnd(connection: StreamConnection, jobId: string): Promise<Message[]> {
  const isEnd = (message: Message) =>
    message.job_id === jobId && ['job_completed', 'job_failed'].includes(message.event);
  while (!connection.messages.some(isEnd)) {
    await connection.take(connection.messages.length + 1);
  }
  return connection.messages;
}

test('a submission is answered with its job, and ends with an event', async () => {
  const connection = await StreamConnection.open(service.url);
  const payload = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
  connection.send({ action: 'submit', id: 'mine', payload });
  const [first] = await connection.take(1);
  expect(first).toEqual({
    event: 'job_submitted',
    id: 'mine',
    job_id: expect.any(String),
    status: expect.stringMatching(/^(pending|running|completed)$/),
    timestamp: expect.any(Number),
    seq: expect.any(Number),
    progress: expect.any(Number),
    failed_images: 0,
    reused_images: 0,
  });
  const messages = await untilEnd(connection, first!.job_id!);
  expect(messages).toHaveLength(2);
  expect(messages[1]).toEqual({
    event: 'job_completed',
    job_id: first!.job_id,
    status: 'completed',
    timestamp: expect.any(Number),
    seq: expect.any(Number),
    progress: 1,
    failed_images: 0,
    reused_images: 0,
    class_counts: { car: 3 },
  });
  expect((await resultOf(service.url, first!.job_id!)).result.car_count).toBe(3);
  connection.socket.close();
});

test('every connection hears of jobs submitted elsewhere, in the order of seq', async () => {
  const listeners = await Promise.all(
    Array.from({ length: 3 }, () => StreamConnection.open(service.url)),
  );
  const ids: string[] = [];
  for (let count = 0; count < 10; count += 1) ids.push(await submit(service.url));
  ids.push(await submit(service.url, { image_paths: ['absent.png'] }));
  for (const listener of listeners) {
    for (const id of ids) await untilEnd(listener, id);
    const { messages } = listener;
    expect(messages).toHaveLength(2 * ids.length);
    const seqs = messages.map((message) => message.seq!);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(new Set(seqs).size).toBe(seqs.length);
    for (const id of ids) {
      const own = messages.filter((message) => message.job_id === id);
      const end = id === ids.at(-1) ? 'job_failed' : 'job_completed';
      expect(own.map((message) => message.event)).toEqual(['job_submitted', end]);
    }
    const failed = messages.find((message) => message.event === 'job_failed');
    expect(failed).toMatchObject({ job_id: ids.at(-1), status: 'failed' });
    listener.socket.close();
  }
});

test('a subscriber to one job follows its 20 images, and hears of no other', async () => {
  const id = await submit(service.url, { image_paths: Array(20).fill('large.png') });
  const connection = await StreamConnection.open(service.url);
  connection.send({ action: 'subscribe', id: 1, job_ids: [id], after_seq: 0 });
  await connection.take(1);
  await submit(service.url);
  const [subscribed, ...messages] = await untilEnd(connection, id);
  expect(subscribed).toMatchObject({ event: 'subscribed', id: 1 });
  expect(messages.map((message) => message.job_id)).toEqual(messages.map(() => id));
  const events = messages.map((message) => message.event);
  expect(events.filter((event) => event !== 'job_progress')).toEqual([
    'job_submitted',
    'job_started',
    'job_completed',
  ]);
  expect(events[0]).toBe('job_submitted');
  expect(events.at(-1)).toBe('job_completed');
  expect(events).toContain('job_progress');
  const progress = messages.map((message) => message.progress!);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
  connection.socket.close();
});

test('ping is answered with pong and its id', async () => {
  const connection = await StreamConnection.open(service.url);
  connection.send({ action: 'ping', id: 42 });
  connection.send({ action: 'ping' });
  const [withId, without] = await connection.take(2);
  expect(withId).toMatchObject({ event: 'pong', id: 42, timestamp: expect.any(Number) });
  expect(without?.event).toBe('pong');
  expect(without).not.toHaveProperty('id');
  connection.socket.close();
});

test('what is wrong comes back as an error with a problem, and the socket stays open', async () => {
  const connection = await StreamConnection.open(service.url);
  const payload = { job_type: 'detect_cars', image_paths: [], priority: 11 };
  connection.send('{not json');
  connection.send({ action: 'dance', id: 'a' });
  connection.send({ action: 'submit', id: 'b', payload });
  connection.send({
    action: 'submit',
    id: 'c',
    payload: { ...payload, image_paths: ['../x'], priority: 1 },
  });
  const errors = await connection.take(4);
  expect(errors.map((message) => [message.event, message.id, message.error?.code])).toEqual([
    ['error', undefined, 'bad_json'],
    ['error', 'a', 'validation_failed'],
    ['error', 'b', 'validation_failed'],
    ['error', 'c', 'path_not_allowed'],
  ]);
  expect(errors[2]?.error?.errors?.map((item) => item.pointer).sort()).toEqual([
    '#/payload/image_paths',
    '#/payload/priority',
  ]);
  connection.send({ action: 'ping', id: 'still there' });
  const messages = await connection.take(5);
  expect(messages[4]).toMatchObject({ event: 'pong', id: 'still there' });
  connection.socket.close();
});

test('after a restart on the same data folder the events so far are replayed from any point', async () => {
  const before = await StreamConnection.open(service.url);
  before.send({ action: 'subscribe', events: ['job_submitted', 'job_started', 'job_completed'] });
  await before.take(1);
  const id = await submit(service.url);
  const live = (await untilEnd(before, id)).filter((message) => message.job_id === id);
  expect(live.map((message) => message.event)).toEqual([
    'job_submitted',
    'job_started',
    'job_completed',
  ]);

  expect(await service.kill('SIGTERM')).toBe(0);
  expect(await before.closed).toMatchObject({ code: 1001 });
  service = await startService(options);

  const after = await StreamConnection.open(service.url);
  after.send({ action: 'subscribe', after_seq: live[0]!.seq! - 1 });
  const replayed = (await untilEnd(after, id)).filter((message) => message.job_id === id);
  expect(replayed).toEqual(live);

  const later = await submit(service.url);
  const messages = await untilEnd(after, later);
  expect(messages.at(-1)!.seq).toBeGreaterThan(live.at(-1)!.seq!);
  after.socket.close();
});
