/** The message catalogue of `/v1/stream` over real sockets. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { compose, type Harness, submitted } from '../support/composed-app.js';
import { HeldJobs } from '../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';
import { StreamConnection } from './stream-connection.js';

const job = { job_type: 'detect_cars', image_paths: ['a.jpg', 'b.jpg'] };
let jobs: HeldJobs;
let app: Harness;
let server: Listening;

const open = (): Promise<StreamConnection> => StreamConnection.open(server.url);

const submit = () => submitted(app, job);

async function serve(): Promise<void> {
  app = compose({}, {}, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}

beforeEach(async () => {
  jobs = await HeldJobs.open();
  await serve();
});

afterEach(async () => {
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
});

/** Submits are answered, and events passed on, this much later. */
async function serveSlowly(submitMs: number, eventMs: number): Promise<void> {
  const submit = jobs.service.submit.bind(jobs.service);
  const onEvent = jobs.service.onEvent.bind(jobs.service);
  jobs.service.submit = async (...args) => {
    const submitted = await submit(...args);
    await setTimeout(submitMs);
    return submitted;
  };
  jobs.service.onEvent = (listener) =>
    onEvent((event) => {
      if (eventMs === 0) listener(event);
      else {
        void setTimeout(eventMs).then(() => {
          listener(event);
        });
      }
    });
  await server.close(0);
  await serve();
}

describe('events', () => {
  test('every client gets the events of a job from its acceptance to its end', async () => {
    const [one, two] = [await open(), await open()];
    const id = await submit();
    await jobs.start(id);
    await jobs.progress(id, 1);
    await jobs.finish(id, [okOutcome(), errorOutcome('invalid_image')]);
    for (const client of [one, two]) {
      expect(await client.settled()).toEqual([
        {
          event: 'job_submitted',
          job_id: id,
          status: 'pending',
          timestamp: expect.closeTo(Date.now() / 1000, -1),
          seq: 1,
          progress: 0,
          failed_images: 0,
          reused_images: 0,
        },
        {
          event: 'job_completed',
          job_id: id,
          status: 'completed',
          timestamp: expect.any(Number),
          seq: 3,
          progress: 1,
          failed_images: 1,
          reused_images: 0,
          class_counts: { car: 1 },
        },
      ]);
    }
  });

  test('a failure carries its error', async () => {
    const client = await open();
    const id = await submit();
    await jobs.finish(id, [errorOutcome('invalid_image'), errorOutcome('invalid_image')]);
    expect((await client.settled())[1]).toMatchObject({
      event: 'job_failed',
      job_id: id,
      status: 'failed',
      error: { code: 'all_images_failed', detail: expect.stringContaining('It is not one.') },
    });
  });

  test('the number of clients is reported', async () => {
    const client = await open();
    await expect.poll(() => app.state.streamClients).toBe(1);
    client.socket.close();
    await expect.poll(() => app.state.streamClients).toBe(0);
  });
});

describe('ping', () => {
  test.each([['p-1'], [7], [undefined]])('with id %s comes back as pong', async (id) => {
    const client = await open();
    client.send(id === undefined ? { action: 'ping' } : { action: 'ping', id });
    const [pong] = await client.take(1);
    expect(pong).toEqual({
      event: 'pong',
      ...(id === undefined ? {} : { id }),
      timestamp: expect.any(Number),
      seq: 0,
    });
  });
});

describe('submit', () => {
  test.each([
    [true, 0],
    [true, 30],
    [false, 0],
    [false, 30],
  ])('is answered once (event first: %s, store takes %d ms)', async (eventFirst, submitMs) => {
    await serveSlowly(submitMs, eventFirst ? 0 : submitMs + 10);
    const [sender, other] = [await open(), await open()];
    sender.send({ action: 'submit', id: 's-1', payload: job });
    const [reply] = await sender.take(1);
    expect(reply).toMatchObject({ event: 'job_submitted', id: 's-1', status: 'pending' });
    const [seen] = await other.take(1);
    expect(seen).toMatchObject({ event: 'job_submitted', job_id: reply!.job_id, seq: 1 });
    expect(seen).not.toHaveProperty('id');
    await setTimeout(60);
    expect(await sender.settled()).toHaveLength(1);
    const spec = await jobs.specOf(reply!.job_id!);
    expect(spec).toMatchObject({ jobType: 'detect_cars', priority: 0 });
  });

  test('many at once are each answered with their own id', async () => {
    await serveSlowly(5, 0);
    const client = await open();
    for (let id = 0; id < 40; id += 1) client.send({ action: 'submit', id, payload: job });
    const replies = await client.take(40);
    expect(replies.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual([
      ...Array(40).keys(),
    ]);
    expect(new Set(replies.map(({ job_id }) => job_id)).size).toBe(40);
    expect(await client.settled()).toHaveLength(40);
  });

  test('takes null for what is not given, in the payload and around it', async () => {
    const client = await open();
    const payload = { ...job, priority: null, model_name: null, confidence_threshold: null };
    client.send({ action: 'submit', id: null, payload });
    const [reply] = await client.take(1);
    expect(reply).toMatchObject({ event: 'job_submitted', status: 'pending' });
    expect(reply).not.toHaveProperty('id');
    client.send({ action: 'subscribe', id: null, job_ids: null, events: null, after_seq: null });
    expect((await client.take(2))[1]).toMatchObject({ event: 'subscribed', seq: 1 });
    await submit();
    expect((await client.take(3))[2]).toMatchObject({ event: 'job_submitted', seq: 2 });
  });

  test('keeps the text of the metadata', async () => {
    const client = await open();
    const metadata = '{"ns":1764064800123456789}';
    const payload = `${JSON.stringify(job).slice(0, -1)},"metadata":${metadata}}`;
    client.send(`{"action":"submit","payload":${payload}}`);
    const [reply] = await client.take(1);
    expect(await jobs.specOf(reply!.job_id!)).toMatchObject({ metadata });
  });

  test('obeys the rules of REST and points into the message', async () => {
    const client = await open();
    client.send({ action: 'submit', id: 's', payload: { ...job, priority: 11, colour: 1 } });
    client.send({ action: 'submit', id: 't', payload: { ...job, image_paths: ['../x.jpg'] } });
    client.send({ action: 'submit', id: 'u' });
    const answers = await client.take(3);
    const [rules, path, nothing] = ['s', 't', 'u'].map((id) => answers.find((a) => a.id === id));
    expect(rules).toMatchObject({
      event: 'error',
      id: 's',
      timestamp: expect.any(Number),
      error: { code: 'validation_failed', status: 422 },
    });
    const pointers = rules!.error!.errors!.map((item) => item.pointer);
    expect(pointers.sort()).toEqual(['#/payload/colour', '#/payload/priority']);
    expect(path).toMatchObject({ id: 't', error: { code: 'path_not_allowed' } });
    expect(nothing).toMatchObject({ id: 'u', error: { code: 'validation_failed' } });
    expect(jobs.service.lastSeq()).toBe(0);
  });

  test.each(['queue_full', 'storage_unavailable'] as const)('%s is an error', async (code) => {
    const client = await open();
    vi.spyOn(jobs.service, 'submit').mockRejectedValue(new LatticeError(code, 'Not now.'));
    client.send({ action: 'submit', id: 1, payload: job });
    expect((await client.take(1))[0]).toMatchObject({ event: 'error', id: 1, error: { code } });
    expect(await client.settled()).toHaveLength(1);
  });
});

describe('what is no message', () => {
  test.each([
    ['not JSON', '{', 'bad_json'],
    ['empty', '', 'bad_json'],
    ['no object', '[]', 'validation_failed'],
    ['null', 'null', 'validation_failed'],
    ['no action', '{"id":"x"}', 'validation_failed'],
    ['unknown action', '{"action":"dance","id":"x"}', 'validation_failed'],
    ['unknown field', '{"action":"ping","x":1}', 'validation_failed'],
    [
      'depth bomb',
      `{"action":"submit","payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'validation_failed',
    ],
  ])('%s is answered with an error, and the socket stays', async (_name, text, code) => {
    const client = await open();
    client.send(text);
    const [error] = await client.take(1);
    expect(error).toMatchObject({ event: 'error', error: { code } });
    expect(error).not.toHaveProperty('job_id');
    if (text.includes('"x"}')) expect(error!.id).toBe('x');
    expect(await client.settled()).toHaveLength(1);
  });

  test('a binary frame is refused', async () => {
    const client = await open();
    client.socket.send(Buffer.from('{"action":"ping"}'), { binary: true });
    expect((await client.take(1))[0]).toMatchObject({ error: { code: 'bad_json' } });
  });
});

/** As proxies pass a handshake on that do not know of WebSockets. */
test.each([[{}], [{ upgrade: 'websocket' }], [{ upgrade: 'websocket', connection: 'close' }]])(
  'without an upgrade the route says what it speaks: %j',
  async (headers) => {
    const { port } = server;
    const [answer] = (await once(
      request({ port, path: '/v1/stream', headers }).end(),
      'response',
    )) as [IncomingMessage];
    expect(answer.statusCode).toBe(400);
    expect(await json(answer)).toMatchObject({
      code: 'bad_request',
      detail: expect.stringContaining('proxy'),
    });
  },
);
