/** The message catalogue of `/v1/stream` over real sockets. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LatticeError } from '../../src/errors.js';
import { ApiKeys } from '../../src/http/api-keys.js';
import { listen, type Listening } from '../../src/http/serve.js';
import type { AppDeps } from '../../src/compose-app.js';
import type { Config } from '../../src/config.js';
import { compose, post, type Harness } from '../support/composed-app.js';
import { okOutcome } from '../support/fake-jobs.js';
import { StreamConnection } from './stream-connection.js';

const job = { job_type: 'detect_cars', image_paths: ['a.jpg', 'b.jpg'] };
let app: Harness;
let server: Listening;

async function start(config: Partial<Config> = {}, deps: Partial<AppDeps> = {}): Promise<void> {
  app = compose(config, deps);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}

const open = (headers: Record<string, string> = {}, protocols: string[] = []) =>
  StreamConnection.open(server.url, { headers }, protocols);

async function submit(headers: Record<string, string> = {}): Promise<string> {
  return (await post(app, '/v1/jobs/submit', job, headers)).body.job_id as string;
}

beforeEach(async () => {
  await start();
});

afterEach(async () => {
  await server.close(0);
});

describe('events', () => {
  test('everyone hears of a job from its acceptance to its end', async () => {
    const [one, two] = [await open(), await open()];
    const id = await submit();
    app.jobs.start(id);
    app.jobs.progress(id, 1);
    app.jobs.finish(id, [okOutcome(), okOutcome()]);
    for (const client of [one, two]) {
      expect(await client.settled()).toEqual([
        {
          event: 'job_submitted',
          job_id: id,
          status: 'pending',
          timestamp: expect.closeTo(Date.now() / 1000, 0),
          seq: 1,
          progress: 0,
        },
        {
          event: 'job_completed',
          job_id: id,
          status: 'completed',
          timestamp: expect.any(Number),
          seq: 3,
          progress: 1,
        },
      ]);
    }
  });

  test('a failure carries its error', async () => {
    const client = await open();
    const id = await submit();
    app.jobs.fail(id, new LatticeError('all_images_failed', 'None could be read.'));
    expect((await client.settled())[1]).toMatchObject({
      event: 'job_failed',
      job_id: id,
      status: 'failed',
      error: { code: 'all_images_failed', detail: 'None could be read.' },
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
    Object.assign(app.jobs, { eventFirst, submitMs });
    const [sender, other] = [await open(), await open()];
    sender.send({ action: 'submit', id: 's-1', payload: job });
    const [reply] = await sender.take(1);
    expect(reply).toMatchObject({ event: 'job_submitted', id: 's-1', status: 'pending' });
    const [seen] = await other.take(1);
    expect(seen).toMatchObject({ event: 'job_submitted', job_id: reply!.job_id, seq: 1 });
    expect(seen).not.toHaveProperty('id');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await sender.settled()).toHaveLength(1);
    expect(app.jobs.specs[0]).toMatchObject({ jobType: 'detect_cars', priority: 0 });
  });

  test('many at once are each answered with their own id', async () => {
    app.jobs.submitMs = 5;
    const client = await open();
    for (let id = 0; id < 40; id += 1) client.send({ action: 'submit', id, payload: job });
    const replies = await client.take(40);
    expect(replies.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual([
      ...Array(40).keys(),
    ]);
    expect(new Set(replies.map(({ job_id }) => job_id)).size).toBe(40);
    expect(await client.settled()).toHaveLength(40);
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
    expect(app.jobs.specs).toEqual([]);
  });

  test.each(['queue_full', 'storage_unavailable'] as const)('%s is an error', async (code) => {
    const client = await open();
    app.jobs.broken = new LatticeError(code, 'Not now.');
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

describe('subscribe', () => {
  test('gives all five events, filtered by job and by name', async () => {
    const [all, one, none] = [await open(), await open(), await open()];
    const [first, second] = [await submit(), await submit()];
    all.send({ action: 'subscribe', id: 1 });
    one.send({ action: 'subscribe', job_ids: [first], events: ['job_progress', 'job_completed'] });
    none.send({ action: 'subscribe', events: [] });
    for (const client of [all, one, none]) {
      expect((await client.settled()).pop()).toMatchObject({ event: 'subscribed', seq: 2 });
      client.messages.length = 0;
    }
    for (const id of [first, second]) {
      app.jobs.start(id);
      app.jobs.progress(id, 1);
      app.jobs.finish(id, [okOutcome(), okOutcome()]);
    }
    const names = ['job_started', 'job_progress', 'job_completed'];
    expect((await all.settled()).map(({ event }) => event)).toEqual([...names, ...names]);
    expect((await one.settled()).map(({ event, job_id }) => [event, job_id])).toEqual([
      ['job_progress', first],
      ['job_completed', first],
    ]);
    expect(await none.settled()).toEqual([]);
  });

  test('unsubscribe goes back to what every connection gets', async () => {
    const client = await open();
    client.send({ action: 'subscribe', events: [] });
    client.send({ action: 'unsubscribe', id: 'u' });
    expect((await client.take(2))[1]).toMatchObject({ event: 'unsubscribed', id: 'u' });
    app.jobs.start(await submit());
    expect((await client.settled()).slice(2)).toMatchObject([{ event: 'job_submitted' }]);
  });

  test('after_seq replays what was missed, then goes on without gap or repeat', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 700; count += 1) ids.push(await submit());
    const client = await open();
    client.send({ action: 'subscribe', after_seq: 10 });
    await client.take(1);
    const live = await submit();
    await client.take(1 + 690 + 1);
    const [subscribed, ...events] = await client.settled();
    expect(subscribed).toMatchObject({ event: 'subscribed' });
    expect(events.map(({ seq }) => seq)).toEqual([...Array(691).keys()].map((n) => n + 11));
    expect(events.at(-1)).toMatchObject({ job_id: live });
  });

  test('history that is gone is told as a gap', async () => {
    for (let count = 0; count < 5; count += 1) await submit();
    app.jobs.forget(3);
    const client = await open();
    client.send({ action: 'subscribe', id: 's', after_seq: 1 });
    const messages = await client.take(4);
    expect(messages.map(({ event, seq }) => [event, seq])).toEqual([
      ['subscribed', expect.any(Number)],
      ['gap', undefined],
      ['job_submitted', 4],
      ['job_submitted', 5],
    ]);
    expect(messages[1]).toMatchObject({ id: 's', after_seq: 1 });
  });

  test.each([
    [{ events: ['job_danced'] }],
    [{ after_seq: -1 }],
    [{ after_seq: 1.5 }],
    [{ job_ids: 'x' }],
    [{ job_ids: [''] }],
  ])('%j is refused', async (fields) => {
    const client = await open();
    client.send({ action: 'subscribe', ...fields });
    expect((await client.take(1))[0]).toMatchObject({ error: { code: 'validation_failed' } });
  });
});

describe('access', () => {
  const ALICE = 'lat_alice_0123456789abcdef';
  const BOB = 'lat_bob_0123456789abcdef';
  const apiKeys = ApiKeys.parse(`${ALICE}\n${BOB}\n`);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  beforeEach(async () => {
    await server.close(0);
    await start({}, { apiKeys });
  });

  test.each([[{}], [as('lat_wrong_0123456789abcdef')]])('%j is closed 4401', async (headers) => {
    const client = await open(headers);
    expect(await client.closed).toMatchObject({ code: 4401 });
    expect(client.messages).toMatchObject([{ event: 'error', error: { code: 'unauthorized' } }]);
    expect(app.stream.clientCount).toBe(0);
  });

  test('a browser offers its key as a sub-protocol, which is not echoed', async () => {
    const client = await open({}, ['lattice', `bearer.${ALICE}`]);
    expect(client.socket.protocol).toBe('lattice');
    expect(await client.settled()).toEqual([]);
  });

  test('each key sees its own jobs, live and replayed', async () => {
    const [alice, bob] = [await open(as(ALICE)), await open({ 'x-api-key': BOB })];
    const id = await submit(as(ALICE));
    bob.send({ action: 'submit', id: 'b', payload: job });
    const [own] = await bob.take(1);
    expect(own).toMatchObject({ event: 'job_submitted', id: 'b' });
    expect((await alice.settled()).map(({ job_id }) => job_id)).toEqual([id]);
    bob.send({ action: 'subscribe', after_seq: 0 });
    const seen = (await bob.settled()).filter(({ event }) => event === 'job_submitted');
    expect(new Set(seen.map(({ job_id }) => job_id))).toEqual(new Set([own!.job_id]));
  });
});

test('production refuses pages of unlisted origins, takes listed and own ones', async () => {
  await server.close(0);
  await start({ env: 'production', corsOrigins: ['https://page.example'] });
  await expect(open({ origin: 'https://evil.example' })).rejects.toThrow('403');
  for (const origin of ['https://page.example', server.url]) {
    const client = await open({ origin });
    expect(await client.settled()).toEqual([]);
  }
});

test('without an upgrade the route says what it speaks', async () => {
  const response = await fetch(`${server.url}/v1/stream`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'bad_request' });
});
