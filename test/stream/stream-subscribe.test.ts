/** Subscriptions, replay, and who may see what. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AppDeps } from '../../src/service/compose-app.js';
import type { Config } from '../../src/settings/config.js';
import { ApiKeys } from '../../src/http/access/api-keys.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { compose, type Harness, submitted } from '../support/composed-app.js';
import { HeldJobs } from '../support/held-jobs.js';
import { okOutcome } from '../support/outcomes.js';
import { StreamConnection } from './stream-connection.js';

const job = { job_type: 'detect_cars', image_paths: ['a.jpg', 'b.jpg'] };
let jobs: HeldJobs;
let app: Harness;
let server: Listening;

async function start(config: Partial<Config> = {}, deps: Partial<AppDeps> = {}): Promise<void> {
  app = compose(config, deps, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}

const open = (headers: Record<string, string> = {}, protocols: string[] = []) =>
  StreamConnection.open(server.url, { headers }, protocols);

const submit = (headers?: Record<string, string>) => submitted(app, job, headers);

beforeEach(async () => {
  jobs = await HeldJobs.open();
  await start();
});

afterEach(async () => {
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
});

test('after a restart pong and subscribed name the newest event of the process before', async () => {
  for (let count = 0; count < 3; count += 1) await submit();
  await server.close(0);
  await jobs.reopen();
  await start();
  const client = await open();
  client.send({ action: 'ping' });
  client.send({ action: 'subscribe' });
  expect(await client.settled()).toMatchObject([
    { event: 'pong', seq: 3 },
    { event: 'subscribed', seq: 3 },
  ]);
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
      await jobs.start(id);
      await jobs.progress(id, 1);
      await jobs.finish(id, [okOutcome(), okOutcome()]);
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
    await jobs.start(await submit());
    expect((await client.settled()).slice(2)).toMatchObject([{ event: 'job_submitted' }]);
  });

  test('after_seq replays what was missed, then goes on without gap or repeat', async () => {
    await Promise.all(Array.from({ length: 700 }, () => submit()));
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
    for (let count = 0; count < 3; count += 1) await submit();
    await setTimeout(5);
    const since = Date.now() / 1000;
    for (let count = 0; count < 2; count += 1) await submit();
    await jobs.forget(since);
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

  test('a number of a history that was replaced is a gap, and what comes then is sent', async () => {
    await submit();
    const client = await open();
    client.send({ action: 'subscribe', after_seq: 100_000 });
    await client.take(2);
    const job_id = await submit();
    expect(await client.take(3)).toMatchObject([
      { event: 'subscribed' },
      { event: 'gap', after_seq: 100_000 },
      { event: 'job_submitted', job_id, seq: 2 },
    ]);
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
