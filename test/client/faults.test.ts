/** The client when answers are slow, refused or cut off, and when the service goes away and comes back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  LatticeClient,
  type EventGap,
  type JobEvent,
  type JobProgress,
  type ServiceError,
} from '../../src/client/lattice-client.js';
import { HANG_MS } from '../support/eventually.js';
import { FaultProxy, refusal } from '../support/fault-proxy.js';
import { DEMO, FEW_THREADS, writeEnlarged } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

let folder: string;
let service: ServiceProcess;
let proxy: FaultProxy;
let client: LatticeClient;
let port: string;

const env = () => ({ ...FEW_THREADS, LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}` });
const images = (...image_paths: string[]) => ({ job_type: 'batch_detect' as const, image_paths });
const LONG = Array<string>(16).fill('large.png');

/** At the same address as before. */
async function restart(dataDir: string): Promise<void> {
  service = await startService({ dataDir, env: env(), flags: ['--port', port] });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-faults-'));
  await writeEnlarged(join(folder, 'large.png'), 4);
  service = await startService({ dataDir: join(folder, 'data'), env: env() });
  ({ port } = new URL(service.url));
  proxy = await FaultProxy.open(service.url);
  client = new LatticeClient({ url: proxy.url });
});

beforeEach(() => {
  proxy.seen.length = 0;
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('a refusal with Retry-After', () => {
  test('is waited for, and the job is one', async () => {
    proxy.faults.push(refusal(429, 0), refusal(503, 1));
    const started = performance.now();
    const { job_id } = await client.submit(images('shapes.png'));
    expect(performance.now() - started).toBeGreaterThan(990);
    expect(proxy.seen).toHaveLength(3);
    const keys = proxy.seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
    expect((await client.waitFor(job_id)).status).toBe('completed');
  });

  test('that the deadline does not allow is told at once', async () => {
    proxy.faults.push(refusal(503, 600));
    // Had it been waited for, the test would end at its own time limit.
    const call = client.detect({ image_path: 'shapes.png' }, { deadlineMs: 300_000 });
    const error = { code: 'model_not_ready', status: 503, retryAfterS: 600, title: 'Not now' };
    await expect(call).rejects.toMatchObject(error);
  });
});

describe('an answer that does not come', () => {
  const never = () => undefined;

  test('is given up at the deadline, and says what was asked', async () => {
    proxy.faults.push(never);
    await expect(client.models({ deadlineMs: 100 })).rejects.toMatchObject({
      code: 'timeout',
      message: `The service at ${proxy.url} gave no answer to GET /v1/models within 0.1 s.`,
    });
  });

  test('is aborted when the caller aborts', async () => {
    proxy.faults.push(never);
    const reason = new Error('enough');
    const stop = new AbortController();
    const call = client.models({ signal: stop.signal });
    setTimeout(() => {
      stop.abort(reason);
    }, 20);
    await expect(call).rejects.toBe(reason);
    await expect(client.models({ signal: stop.signal })).rejects.toBe(reason);
  });
});

describe('an answer that breaks off', () => {
  test('is asked for again, also half-way through a long result', async () => {
    const paths = Array.from({ length: 1_000 }, (_, at) => `absent/${at}.png`);
    const { job_id } = await client.submit(images('shapes.png', ...paths));
    await client.waitFor(job_id);
    proxy.cutAfterBytes = 10_000;
    const { result } = await client.result(job_id);
    expect(result).toMatchObject({ succeeded: 1, failed: 1_000 });
  });

  test('is not asked for again where that would not be the same', async () => {
    const { job_id } = await client.submit(images('shapes.png'));
    proxy.seen.length = 0;
    proxy.faults.push((incoming) => incoming.socket.destroy());
    const error = {
      code: 'unreachable',
      detail: expect.stringMatching(/broke the connection off/),
    };
    await expect(client.cancel(job_id)).rejects.toMatchObject(error);
    expect(proxy.seen).toHaveLength(1);
  });
});

test.each([
  ['a page', 200, { 'content-type': 'text/html' }, '<html>', 'answers HTTP 200,'],
  ['a fault of a proxy', 502, { server: 'gate' }, 'Bad', 'answers HTTP 502 by gate,'],
  ['a redirection', 308, { location: '/login' }, '', 'answers HTTP 308 to /login,'],
])('%s is not an answer of the service', async (_what, status, headers, body, words) => {
  proxy.faults.push((_incoming, outgoing) => outgoing.writeHead(status, headers).end(body));
  await expect(client.models()).rejects.toMatchObject({
    code: 'unexpected_answer',
    status,
    message: expect.stringContaining(words),
  });
});

/** Without timers, which a test may have stopped. */
async function until(happened: () => boolean): Promise<void> {
  const end = performance.now() + HANG_MS;
  while (!happened() && performance.now() < end) await setImmediate();
  expect(happened()).toBe(true);
}

describe('events', () => {
  /** Reads into the list until the signal. */
  const read = async (
    into: (JobEvent | EventGap)[],
    options: Parameters<typeof client.events>[0],
  ) => {
    try {
      for await (const event of client.events(options)) into.push(event);
    } catch (error) {
      if (options?.signal?.aborted !== true) throw error;
    }
  };

  test('go on after a connection breaks: those missed come first, none comes twice', async () => {
    const stop = new AbortController();
    const events: (JobEvent | EventGap)[] = [];
    const states: (string | null)[] = [];
    const onConnection = (lost: ServiceError | null) => states.push(lost?.code ?? null);
    const names = ['job_submitted' as const, 'job_completed' as const];
    const reading = read(events, { events: names, signal: stop.signal, onConnection });
    await expect.poll(() => states).toEqual([null]);
    const ids: string[] = [];
    // Those of earlier tests may still come.
    const own = () =>
      events.flatMap((event) =>
        event.event !== 'gap' && ids.includes(event.job_id) ? [event.job_id] : [],
      );
    const each = () => ids.flatMap((id) => [id, id]);
    for (let cut = 0; cut < 2; cut += 1) {
      ids.push((await client.submit(images('shapes.png'))).job_id);
      await expect.poll(own).toEqual(each());
      proxy.cutSockets();
      ids.push((await client.submit(images('shapes.png'))).job_id);
      await expect.poll(own).toEqual(each());
    }
    stop.abort();
    await reading;
    expect(own()).toEqual(each());
    expect(states).toEqual([null, 'unreachable', null, 'unreachable', null]);
    await expect.poll(() => proxy.openSockets).toBe(0);
  });

  test('from before the subscription are not mistaken for its events', async () => {
    const stop = new AbortController();
    const events: string[] = [];
    let connected = 0;
    const reading = (async () => {
      const onConnection = (lost: ServiceError | null) => (connected += lost === null ? 1 : 0);
      const { signal } = stop;
      for await (const event of client.events({
        events: ['job_submitted'],
        signal,
        onConnection,
      })) {
        if (event.event !== 'gap') events.push(event.job_id);
      }
    })().catch(() => undefined);
    await expect.poll(() => connected).toBe(1);
    let speak: () => void = () => undefined;
    proxy.socketsMaySpeak = new Promise((resolve) => (speak = resolve));
    proxy.cutSockets();
    const missed = await client.submit(images('shapes.png'));
    await expect.poll(() => proxy.openSockets).toBe(2);
    await sleep(100);
    const early = await client.submit(images('shapes.png'));
    await sleep(100);
    speak();
    await expect.poll(() => events.length).toBe(2);
    expect(events).toEqual([missed.job_id, early.job_id]);
    stop.abort();
    await reading;
  });

  test('continue after the service has gone silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stop = new AbortController();
    try {
      const states: (string | null)[] = [];
      const onConnection = (lost: ServiceError | null) => states.push(lost?.code ?? null);
      const events: (JobEvent | EventGap)[] = [];
      const reading = read(events, { signal: stop.signal, onConnection });
      await until(() => states.length === 1);
      proxy.muteSockets();
      const { job_id } = await client.submit(images('shapes.png'));
      await vi.advanceTimersByTimeAsync(74_000);
      expect({ states, events }).toEqual({ states: [null], events: [] });
      await vi.advanceTimersByTimeAsync(1_000);
      await until(() => states.length === 2);
      await vi.advanceTimersByTimeAsync(500);
      await until(() => events.some((event) => 'job_id' in event && event.job_id === job_id));
      expect(states).toEqual([null, 'unreachable', null]);
      stop.abort();
      await reading;
    } finally {
      stop.abort();
      proxy.cutSockets();
      vi.useRealTimers();
    }
  });

  test('from the past come first, those of other jobs not at all', async () => {
    const first = await client.submit(images('shapes.png'));
    await client.submit(images('shapes.png'));
    await client.waitFor(first.job_id);
    const seen: string[] = [];
    for await (const event of client.events({ job_ids: [first.job_id], after_seq: 0 })) {
      seen.push(event.event);
      if (event.event === 'job_completed') break;
    }
    expect(seen.filter((event) => event !== 'job_progress')).toEqual([
      'job_submitted',
      'job_started',
      'job_completed',
    ]);
    await expect.poll(() => proxy.openSockets).toBe(0);
  });

  test('of a service that has lost its history begin with a gap, and then at its start', async () => {
    const { job_id } = await client.submit(images('shapes.png'));
    await client.waitFor(job_id);
    const seen: string[] = [];
    const seqs: number[] = [];
    for await (const event of client.events({ after_seq: 1_000_000 })) {
      seen.push(event.event);
      if (event.event !== 'gap') seqs.push(event.seq);
      if (event.event === 'job_completed' && event.job_id === job_id) break;
    }
    expect(seen.slice(0, 2)).toEqual(['gap', 'job_submitted']);
    expect(seqs).toEqual(seqs.map((_seq, at) => at + 1));
  });
});

describe('waiting for a job', () => {
  test('shows its progress', async () => {
    const { job_id } = await client.submit(images(...LONG));
    const shown: JobProgress[] = [];
    const record = await client.waitFor(job_id, { onProgress: (each) => shown.push(each) });
    expect(record).toMatchObject({ status: 'completed', finished_images: LONG.length });
    const finished = shown.map((each) => each.finished_images);
    expect(finished).toEqual([...finished].sort((a, b) => a - b));
    expect(shown.at(-1)).toMatchObject({ job_id, status: 'completed', progress: 1 });
    expect(new Set(finished).size).toBeGreaterThan(2);
    // Told by events: it is looked at when it starts and ends, not over and over.
    expect(proxy.seen.length).toBeLessThan(10);
  });

  test('looks at it where sockets do not pass', async () => {
    proxy.passesSockets = false;
    const { job_id } = await client.submit(images(...LONG.slice(0, 4)));
    expect((await client.waitFor(job_id)).status).toBe('completed');
    proxy.passesSockets = true;
  });

  test('ends at its deadline and says how far the job is, which goes on', async () => {
    const { job_id } = await client.submit(images(...LONG, ...LONG, ...LONG, ...LONG));
    await expect(client.waitFor(job_id, { deadlineMs: 150 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(
        new RegExp(
          `^${job_id} had not ended after 0.15 s: it is (running|pending) with \\d+ of 64 images. It goes on.$`,
        ),
      ),
    });
    expect((await client.waitFor(job_id)).status).toBe('completed');
  });

  test('survives a kill and restart of the service', async () => {
    const direct = new LatticeClient({ url: service.url });
    const { job_id } = await direct.submit(images(...LONG, ...LONG));
    const states: (string | null)[] = [];
    let begun = false;
    const waiting = direct.waitFor(job_id, {
      deadlineMs: 30_000,
      onProgress: ({ finished_images }) => (begun ||= finished_images > 0),
      onConnection: (lost) => states.push(lost?.code ?? null),
    });
    await expect.poll(() => begun).toBe(true);
    await service.kill('SIGKILL');
    await expect.poll(() => states).toEqual(['unreachable']);
    await sleep(100);
    await restart(service.dataDir);
    expect(await waiting).toMatchObject({ status: 'completed', finished_images: 32 });
    expect(states).toEqual(['unreachable', null]);
  });
});
