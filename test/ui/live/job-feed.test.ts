/** The page's end of `/v1/stream` against the service's. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { JobFeed, type FeedState } from '../../../src/ui/live/job-feed.js';
import { openEventSocket } from '../../../src/client/browser-event-socket.js';
import { followEvents } from '../../../src/client/follow-events.js';
import type { JobEvent } from '../../../src/client/records.js';
import type { AppDeps } from '../../../src/service/compose-app.js';
import { compose, type Harness, submitted } from '../../support/composed-app.js';
import { HeldJobs } from '../../support/held-jobs.js';
import { okOutcome } from '../../support/outcomes.js';

const KEY = 'lat_alice_0123456789abcdef';
const job = { job_type: 'detect_cars', image_paths: ['a.jpg', 'b.jpg'] };

let jobs: HeldJobs;
let app: Harness;
let server: Listening;
let feed: JobFeed;
let sockets: WebSocket[];
let key: string | null;
const events: JobEvent[] = [];
const states: FeedState[] = [];
let unknownPasts: number;
let refusals: number;

const listener = {
  onState: (state: FeedState) => states.push(state),
  onEvent: (event: JobEvent) => events.push(event),
  onUnknownPast: () => (unknownPasts += 1),
  onUnauthorized: () => (refusals += 1),
};

/** The WebSocket of a browser. */
class PageSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    sockets.push(this);
  }
}

/** Where the service is, with the key of the moment. */
const target = () => ({
  baseUrl: server.url,
  headers: key === null ? {} : { authorization: `Bearer ${key}` },
});

async function serve(deps: Partial<AppDeps> = {}): Promise<void> {
  app = compose({}, deps, jobs);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}

const reached = (kind: FeedState['kind']) =>
  expect.poll(() => states.at(-1)?.kind, { interval: 10 }).toBe(kind);
const heard = (count: number) => expect.poll(() => events.length, { interval: 10 }).toBe(count);
const listed = (count: number) => expect.poll(() => unknownPasts, { interval: 10 }).toBe(count);
const names = () => events.map(({ event }) => event);
const submit = () => submitted(app, job);

beforeEach(async () => {
  [events.length, states.length, unknownPasts, refusals] = [0, 0, 0, 0];
  sockets = [];
  key = null;
  vi.stubGlobal('WebSocket', PageSocket);
  jobs = await HeldJobs.open();
  await serve();
  feed = new JobFeed(
    (options) => followEvents((...socket) => openEventSocket(target(), ...socket), { ...options }),
    listener,
  );
});

afterEach(async () => {
  feed.stop('test over');
  vi.useRealTimers();
  vi.unstubAllGlobals();
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
});

test('events come from the start of a job to its end', async () => {
  feed.start();
  await reached('live');
  expect(unknownPasts).toBe(1);
  const id = await submit();
  await jobs.start(id);
  await jobs.progress(id, 1);
  await jobs.finish(id, [okOutcome(), okOutcome()]);
  await heard(4);
  expect(names()).toEqual(['job_submitted', 'job_started', 'job_progress', 'job_completed']);
});

test('what was missed is replayed once the connection is back, in order', async () => {
  feed.start();
  await reached('live');
  const id = await submit();
  await heard(1);
  sockets[0]!.terminate();
  await reached('waiting');
  await jobs.start(id);
  await jobs.finish(id, [okOutcome(), okOutcome()]);
  await reached('live');
  const stored = () => names().filter((name) => name !== 'job_progress');
  await expect.poll(stored).toEqual(['job_submitted', 'job_started', 'job_completed']);
  expect(unknownPasts).toBe(1);
});

test('where the history is gone a list is asked for', async () => {
  feed.start();
  await reached('live');
  await submit();
  await heard(1);
  await server.close(0);
  await jobs.start(await submit());
  await jobs.forget(Date.now() / 1000);
  await serve();
  await listed(2);
});

test('a service that began anew is followed from where it is', async () => {
  feed.start();
  await reached('live');
  for (let count = 0; count < 5; count += 1) await submit();
  await heard(5);
  await server.close(0);
  await jobs[Symbol.asyncDispose]();
  jobs = await HeldJobs.open();
  await serve();
  await listed(2);
  await submit();
  await heard(6);
});

test('a service that is away is asked less and less often', async () => {
  await server.close(0);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  feed.start();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const pauses = () => states.flatMap((each) => (each.kind === 'waiting' ? each.seconds : []));
    await expect.poll(() => pauses().length, { interval: 10 }).toBe(attempt + 1);
    waits.push(pauses().at(-1)!);
    vi.advanceTimersByTime(30_000);
  }
  vi.useRealTimers();
  expect(waits[0]).toBeLessThanOrEqual(0.5);
  expect(waits[4]).toBeGreaterThanOrEqual(2);
  for (const wait of waits.slice(-2)) {
    expect(wait).toBeGreaterThanOrEqual(2.5);
    expect(wait).toBeLessThanOrEqual(5);
  }
  await serve();
});

test('a key goes along, and one that is not known stops the feed', async () => {
  await server.close(0);
  await serve({ apiKeys: ApiKeys.parse(KEY) });
  feed.start();
  await reached('stopped');
  expect(refusals).toBe(1);
  key = KEY;
  feed.start();
  await reached('live');
});

test('a key that no socket can carry is a reason to stop', async () => {
  key = 'with/a/slash=0123456789';
  feed.start();
  await reached('stopped');
  const state = states.at(-1);
  expect(state).toMatchObject({ kind: 'stopped', reason: expect.stringContaining('WebSocket') });
  expect(JSON.stringify(state)).not.toContain(key);
});

test('a connection that does not open is given up, and nothing is sent before it opens', async () => {
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const elsewhere = { ...target(), baseUrl: `http://127.0.0.1:${port}` };
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const silent = new JobFeed(
    (options) => followEvents((...socket) => openEventSocket(elsewhere, ...socket), options ?? {}),
    listener,
  );
  silent.start();
  await expect.poll(() => sockets.length).toBe(1);
  expect(() => vi.advanceTimersByTime(15_001)).not.toThrow();
  expect(states.map(({ kind }) => kind)).toEqual(['connecting']);
  vi.advanceTimersByTime(15_001);
  vi.useRealTimers();
  await reached('waiting');
  silent.stop('test over');
  mute.close();
});

test('a connection that fell silent is given up', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  feed.start();
  await reached('live');
  // Its answers do not come any more, as over a network that is gone.
  sockets[0]!.onmessage = null;
  vi.advanceTimersByTime(30_001);
  vi.useRealTimers();
  await expect.poll(() => states.some(({ kind }) => kind === 'waiting')).toBe(true);
  await reached('live');
  expect(sockets).toHaveLength(2);
});
