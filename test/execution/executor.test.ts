/** The executor over workers that do what the test says. */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Executor } from '../../src/execution/executor.js';
import { LatticeError } from '../../src/api/errors.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { SimulatedWorker, type SimulatedWorkerOptions } from '../support/simulated-worker.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';

const model = (name: string, more: Partial<ModelDescription> = {}): ModelDescription => ({
  name,
  state: 'available',
  reason: null,
  classes: ['car'],
  device: null,
  precision: null,
  digest: null,
  quantizedFrom: null,
  aliasOf: null,
  release: null,
  agreement: null,
  input: null,
  memoryBytes: null,
  licence: null,
  bundled: false,
  isDefault: false,
  confidenceThreshold: 0.5,
  ...more,
});

function open(workers: SimulatedWorker[] = [], syncQueue = 10_000) {
  const executor = new Executor({
    whyNoWorker: () => 'No worker has joined.',
    files: {
      models: () => Promise.resolve([model('folder.pt')]),
      prepare: (name) => Promise.resolve(model(name)),
      readImage: () => Promise.resolve(Buffer.from('bytes')),
      decodeImage: () => Promise.reject(new Error('no decoder')),
    },
    syncQueue,
  });
  for (const worker of workers) executor.join(worker);
  return executor;
}

const request = (path: string, more: Partial<DetectRequest> = {}): DetectRequest => ({
  path,
  kind: 'async',
  options: { modelName: 'm.pt', ...DEFAULT_PARAMETERS, classes: null },
  ...more,
});

/** Lets everything that is due happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function lose(executor: Executor, worker: SimulatedWorker) {
  executor.leave(worker);
  worker.lose();
  return settle();
}

const worker = (name: string, options: SimulatedWorkerOptions = {}) =>
  new SimulatedWorker(name, options);

afterEach(() => {
  vi.useRealTimers();
});

describe('order', () => {
  it('gives a worker no more than its slots, and the next image when one is free', async () => {
    const one = worker('one', { slots: { sync: 1, async: 2 } });
    const executor = open([one]);
    const all = ['a', 'b', 'c'].map((path) => executor.detect(request(path)));
    expect(one.inHand).toEqual(['a', 'b']);
    one.answer();
    await all[0];
    expect(one.inHand).toEqual(['b', 'c']);
    one.answer(2);
    await Promise.all(all);
  });

  it('an image whose own workers are busy does not delay the others', async () => {
    const one = worker('one', { slots: { sync: 1, async: 1 } });
    const two = worker('two', { slots: { sync: 1, async: 1 } });
    one.modelDigests = { 'm.pt': '1', 'rare.pt': '2' };
    two.modelDigests = { 'm.pt': '1' };
    const executor = open([one, two]);
    const rare = { options: { modelName: 'rare.pt', ...DEFAULT_PARAMETERS, classes: null } };
    const all = [
      ...['a', 'b', 'c'].map((path) => executor.detect(request(path, rare))),
      executor.detect(request('d')),
    ];
    expect([one.inHand, two.inHand]).toEqual([['a'], ['d']]);
    for (const path of ['b', 'c']) {
      one.answer();
      await settle();
      expect(one.inHand).toEqual([path]);
    }
    one.answer();
    two.answer();
    await Promise.all(all);
  });

  it('hands out by priority, then by arrival; synchronous requests have slots of their own', async () => {
    const one = worker('one', { slots: { sync: 1, async: 1 } });
    const executor = open([one]);
    const waiting: [string, Partial<DetectRequest>][] = [
      ['first', {}],
      ['low', { priority: 1 }],
      ['high', { priority: 9 }],
      ['high, later', { priority: 9 }],
      ['none', {}],
      ['sync', { kind: 'sync' }],
    ];
    const all = waiting.map(([path, more]) => executor.detect(request(path, more)));
    expect(one.inHand).toEqual(['first', 'sync']);
    for (let left = waiting.length; left > 0; left -= 1) {
      one.answer();
      await settle();
    }
    await Promise.all(all);
    expect(one.seen).toEqual(['first', 'sync', 'high', 'high, later', 'low', 'none']);
  });

  it('spreads images of jobs by free share, synchronous ones to the worker that answers soonest', async () => {
    const small = worker('small', { slots: { sync: 1, async: 2 } });
    const large = worker('large', { slots: { sync: 1, async: 6 } });
    const executor = open([small, large]);
    const jobs = Array.from({ length: 4 }, (_, index) => executor.detect(request(`${index}`)));
    expect([small.inHand.length, large.inHand.length]).toEqual([1, 3]);
    small.answer(2);
    await settle();
    const sync = executor.detect(request('now', { kind: 'sync' }));
    expect(small.inHand).toContain('now');
    small.answer(9);
    large.answer(9);
    await Promise.all([...jobs, sync]);
  });

  it('gives no work to a worker that is leaving or unhealthy', async () => {
    const leaving = worker('leaving');
    leaving.leaving = true;
    const blind = worker('blind');
    blind.fault = new LatticeError('invalid_model', 'It sees nothing.');
    const well = worker('well');
    const executor = open([leaving, blind, well]);
    const all = Array.from({ length: 2 }, () => executor.detect(request('a')));
    expect(well.inHand).toHaveLength(2);
    expect([leaving.seen, blind.seen]).toEqual([[], []]);
    expect(executor.unhealthy()).toBeNull();
    well.answer(2);
    await Promise.all(all);
  });
});

describe('lost workers', () => {
  it('lose no image: it goes to another worker, before waiting ones', async () => {
    const one = worker('one');
    const two = worker('two', { slots: { sync: 1, async: 1 } });
    const executor = open([one]);
    const all = ['a', 'b', 'c'].map((path) => executor.detect(request(path)));
    executor.join(two);
    expect(two.inHand).toEqual(['c']);
    const last = executor.detect(request('d'));
    await lose(executor, one);
    for (let left = 4; left > 0; left -= 1) {
      two.answer();
      await settle();
    }
    expect((await Promise.all([...all, last])).every(({ workerId }) => workerId === 'two')).toBe(
      true,
    );
    expect(two.seen).toEqual(['c', 'a', 'b', 'd']);
    expect(executor.events.requeued).toBe(2);
  });

  it.each([
    ['async', 3],
    ['sync', 2],
  ] as const)('an %s image ends as worker_lost with the loss number %i', async (kind, losses) => {
    const first = worker('victim-1');
    const executor = open([first]);
    const lost = executor.detect(request('poison', { kind }));
    const outcome = expect(lost).rejects.toMatchObject({
      code: 'worker_lost',
      message: expect.stringContaining(`${losses} workers`),
    });
    for (let number = 1; number <= losses; number += 1) {
      const victim = number === 1 ? first : worker(`victim-${number}`);
      if (victim !== first) executor.join(victim);
      expect(victim.inHand).toEqual(['poison']);
      await lose(executor, victim);
    }
    await outcome;
    expect(executor.stats().queuedAsync + executor.stats().queuedSync).toBe(0);
  });

  it('an image that failed by itself is not handed out again', async () => {
    const one = worker('one');
    const two = worker('two');
    const executor = open([one, two]);
    const failed = executor.detect(request('a'));
    for (const each of [one, two]) each.fail(new LatticeError('invalid_image', 'Not a picture.'));
    await expect(failed).rejects.toMatchObject({ code: 'invalid_image' });
    expect(one.seen.length + two.seen.length).toBe(1);
  });
});

describe('ends', () => {
  it('answers a cancel in the queue at once; the worker answers for an image in hand', async () => {
    const one = worker('one', { slots: { sync: 1, async: 1 } });
    const executor = open([one]);
    const first = executor.detect(request('a'));
    const abort = new AbortController();
    const waiting = executor.detect(request('b', { signal: abort.signal }));
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    one.answer();
    await first;
    expect(one.seen).toEqual(['a']);
  });

  it('a synchronous image is refused at once while there is no worker, also after a loss', async () => {
    const noWorker = { code: 'cluster_unavailable', message: 'No worker. No worker has joined.' };
    const empty = open();
    const sync = () => empty.detect(request('a', { kind: 'sync' }));
    await expect(sync()).rejects.toMatchObject(noWorker);
    const one = worker('one');
    empty.join(one);
    const inHand = empty.detect(request('b', { kind: 'sync', deadlineMs: 20 }));
    await lose(empty, one);
    await expect(sync()).rejects.toMatchObject(noWorker);
    await expect(inHand).rejects.toMatchObject(noWorker); // it waited for another worker
    expect(empty.stats()).toMatchObject({ queuedSync: 0, inFlight: 0 });
  });

  it('a missed deadline is 504 in the queue or in a worker that hangs', async () => {
    const hanging = worker('hanging', { slots: { sync: 1, async: 1 } });
    const executor = open([hanging]);
    const outcomes = ['a', 'b'].map((path) =>
      expect(executor.detect(request(path, { deadlineMs: 20 }))).rejects.toMatchObject({
        code: 'deadline_exceeded',
      }),
    );
    await Promise.all(outcomes);
  });

  it('close refuses waiting and later images', async () => {
    const one = worker('one', { slots: { sync: 1, async: 1 } });
    const executor = open([one]);
    const outcomes = ['a', 'b'].map((path) =>
      expect(executor.detect(request(path))).rejects.toMatchObject({ code: 'shutting_down' }),
    );
    await executor.close();
    await executor.close();
    await Promise.all(outcomes);
    expect(one.closed).toBe(true);
    await expect(executor.detect(request('c'))).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(executor.readImage('c')).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

describe('statistics, health and models', () => {
  it('statistics are sums over the workers', () => {
    const executor = open([
      worker('one', { nodeId: 'x', slots: { sync: 1, async: 3 } }),
      worker('two', { nodeId: 'x', slots: { sync: 1, async: 4 } }),
    ]);
    expect(executor.stats()).toMatchObject({
      device: 'simulated',
      precision: 'fp16',
      gpus: 2,
      reason: '2 workers on 1 node',
      suggestedWindow: 7,
    });
    expect(executor.workerId).toBe('');
  });

  it('is unhealthy without a healthy worker', () => {
    const executor = open();
    expect(executor.unhealthy()).toMatchObject({ code: 'cluster_unavailable' });
    expect(executor.stats()).toMatchObject({ device: 'none', suggestedWindow: 1 });
    const blind = worker('blind');
    blind.fault = new LatticeError('invalid_model', 'It sees nothing.');
    executor.join(blind);
    expect(executor.unhealthy()).toMatchObject({ code: 'invalid_model' });
  });

  it('lists each model once, with its most advanced state; lists the folder if no worker answers', async () => {
    const one = worker('one');
    const two = worker('two');
    const executor = open([one, two]);
    expect((await executor.models()).map(({ name }) => name)).toEqual(['folder.pt']);
    one.offers = [model('a.pt'), model('b.pt', { state: 'ready' })];
    const reason = 'Its file was replaced by a bad one.';
    two.offers = [
      model('a.pt', { state: 'ready' }),
      model('b.pt', { state: 'ready', reason }),
      model('c.pt', { state: 'refused' }),
    ];
    const models = await executor.models();
    expect(models.find(({ name }) => name === 'b.pt')?.reason).toBe(reason);
    expect(models.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'a.pt ready',
      'b.pt ready',
      'c.pt refused',
    ]);
    expect(await executor.prepare('x.pt')).toMatchObject({ name: 'x.pt' });
  });
});

const noVolume = new LatticeError('volume_unavailable', 'It hangs.');

describe('a worker that cannot run an image that others can', () => {
  const asked = (executor: Executor, count: number, more: Partial<DetectRequest> = {}) =>
    Array.from({ length: count }, (_, index) => executor.detect(request(`${index}`, more)));

  it.each(['sync', 'async'] as const)('passes its %s images on to the others', async (kind) => {
    const without = worker('without');
    const well = worker('well', { slots: { sync: 1, async: 1 } });
    const executor = open([without, well]);
    const all = asked(executor, 20, { kind });
    for (let i = 0; i < 200; i += 1) {
      without.fail(noVolume);
      if (i % 5 === 0) well.answer();
      await settle();
    }
    for (const { workerId } of await Promise.all(all)) expect(workerId).toBe('well');
    // No image comes twice to the worker that cannot run it.
    expect(new Set(without.seen).size).toBe(without.seen.length);
    expect(executor.stats()).toMatchObject({ queuedSync: 0, queuedAsync: 0 });
  });

  it('answers with its error if no other worker can run the image', async () => {
    const one = worker('one');
    const two = worker('two');
    const executor = open([one, two]);
    const refused = () =>
      expect(executor.detect(request('a'))).rejects.toMatchObject({ code: 'volume_unavailable' });
    const first = refused();
    for (let i = 0; i < 2; i += 1) {
      one.fail(noVolume);
      two.fail(noVolume);
      await settle();
    }
    await first;
    executor.leave(two);
    const second = refused();
    one.fail(noVolume);
    await second;
  });

  it('passes on no image that was cancelled meanwhile', async () => {
    const without = worker('without', { slots: { sync: 1, async: 1 } });
    const well = worker('well', { slots: { sync: 1, async: 1 } });
    const executor = open([without, well]);
    const abort = new AbortController();
    const refused = Promise.all(
      asked(executor, 2, { signal: abort.signal }).map((each) =>
        expect(each).rejects.toMatchObject({ code: 'cancelled' }),
      ),
    );
    abort.abort();
    without.fail(noVolume);
    await refused;
    expect(executor.stats().queuedAsync).toBe(0);
    well.answer();
  });

  it('answers with its error if the other worker leaves meanwhile', async () => {
    const without = worker('without', { slots: { sync: 1, async: 1 } });
    const well = worker('well', { slots: { sync: 1, async: 1 } });
    const executor = open([without, well]);
    const all = asked(executor, 2);
    without.fail(noVolume);
    await settle();
    expect(executor.stats().queuedAsync).toBe(1);
    executor.leave(well);
    executor.refresh();
    await expect(Promise.race(all)).rejects.toMatchObject({ code: 'volume_unavailable' });
    well.answer();
    await Promise.allSettled(all);
  });

  it('gets no image because a healthy worker has no free slot', async () => {
    const ill = worker('ill');
    ill.fault = new LatticeError('model_not_ready', 'It is wrong.');
    const well = worker('well', { slots: { sync: 1, async: 1 } });
    const executor = open([ill, well]);
    const all = asked(executor, 5);
    expect(ill.seen).toEqual([]);
    for (let i = 0; i < 5; i += 1) {
      well.answer();
      await settle();
    }
    await Promise.all(all);
    expect(ill.seen).toEqual([]);
  });
});

/** Events that may happen, in any order. */
const events = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), pick: fc.nat(99) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer'), pick: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('join'), pick: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose'), pick: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel'), pick: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse'), pick: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('ail'), pick: fc.nat(99) }) },
  ),
  { maxLength: 80 },
);

it('property: answers every request once and never exceeds the slots of a worker', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (steps) => {
      const executor = open();
      let workers: SimulatedWorker[] = [];
      const all: SimulatedWorker[] = [];
      const aborts: AbortController[] = [];
      const outcomes: Promise<ImageResult | LatticeError>[] = [];
      for (const [index, { kind, pick }] of steps.entries()) {
        const chosen = workers[pick % Math.max(1, workers.length)];
        if (kind === 'ask') {
          const abort = new AbortController();
          aborts.push(abort);
          const asked = request(`${index}`, {
            kind: pick % 3 === 0 ? 'sync' : 'async',
            priority: pick % 11,
            signal: abort.signal,
          });
          outcomes.push(executor.detect(asked).catch((error: unknown) => error as LatticeError));
        } else if (kind === 'answer') chosen?.answer(1 + (pick % 3));
        else if (kind === 'refuse') chosen?.fail(noVolume);
        else if (kind === 'ail' && chosen !== undefined)
          chosen.fault = chosen.fault === null ? noVolume : null;
        else if (kind === 'cancel') aborts[pick % Math.max(1, aborts.length)]?.abort();
        else if (kind === 'join') {
          const joined = worker(`worker-${index}`, { slots: { sync: 1, async: 1 + (pick % 3) } });
          workers.push(joined);
          all.push(joined);
          executor.join(joined);
        } else if (chosen !== undefined) {
          workers = workers.filter((other) => other !== chosen);
          executor.leave(chosen);
          chosen.lose();
        }
        await settle();
      }
      // From here on nothing is lost: what is left must be answered.
      const last = worker('last', { slots: { sync: 9, async: 9 }, serviceMs: 0 });
      for (const each of workers) {
        each.serviceMs = 0;
        each.answer(99);
      }
      executor.join(last);
      const settled = await Promise.all(outcomes);
      const errors = settled.filter((outcome) => outcome instanceof LatticeError);
      const known = ['cancelled', 'worker_lost', 'volume_unavailable', 'cluster_unavailable'];
      for (const { code } of errors) expect(known).toContain(code);
      // Those that came while there was no worker.
      const refused = errors.filter(({ code }) => code === 'cluster_unavailable').length;
      for (const { mostInHand, slots } of all) {
        expect(mostInHand).toBeLessThanOrEqual(slots.sync + slots.async);
      }
      const { completed, failed, inFlight, queuedAsync, queuedSync } = executor.stats();
      expect({ inFlight, queuedAsync, queuedSync }).toEqual({
        inFlight: 0,
        queuedAsync: 0,
        queuedSync: 0,
      });
      expect(completed + failed).toBe(outcomes.length - refused);
    }),
    { numRuns: 150 },
  );
});

describe('admission of synchronous requests', () => {
  /** A worker that takes 10 ms per image, one at a time, and has shown its rate. */
  async function busy(syncQueue: number, deadlineMs = 10_000) {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const one = worker('one', { slots: { sync: 1, async: 1 } });
    const executor = open([one], syncQueue);
    const ask = (path = 'a') => executor.detect(request(path, { kind: 'sync', deadlineMs }));
    const finish = async () => {
      await vi.advanceTimersByTimeAsync(10);
      one.answer();
      await settle();
    };
    for (let image = 0; image < 20; image += 1) {
      const asked = ask();
      await finish();
      await asked;
    }
    return { one, executor, ask, finish };
  }

  /** Asks until one is refused. */
  async function fill(ask: () => Promise<ImageResult>) {
    const admitted: Promise<ImageResult>[] = [];
    for (;;) {
      const asked = ask();
      const refused = await Promise.race([asked.catch((error: unknown) => error), settle()]);
      if (refused !== undefined) return { admitted, refused };
      admitted.push(asked);
    }
  }

  it('refuses when the present rate needs more than 1.75 s, with the time to drain as Retry-After', async () => {
    const { ask, finish } = await busy(10_000);
    const { admitted, refused } = await fill(ask);
    expect(admitted.length).toBeGreaterThanOrEqual(165);
    expect(admitted.length).toBeLessThanOrEqual(176);
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterS: 2 });
    await finish();
    const last = ask();
    for (let image = 0; image <= admitted.length; image += 1) await finish();
    await Promise.all([...admitted, last]);
  });

  it('refuses sooner for a shorter deadline', async () => {
    const { ask, executor } = await busy(10_000, 100);
    const { admitted } = await fill(ask);
    expect(admitted.length).toBeLessThanOrEqual(10);
    for (const each of admitted) each.catch(() => undefined);
    await executor.close();
  });

  it('judges each request by its own deadline', async () => {
    const { executor, ask, finish } = await busy(10_000);
    const within = (deadlineMs: number) =>
      executor.detect(request('b', { kind: 'sync', deadlineMs }));
    const before = Array.from({ length: 20 }, () => ask());
    await expect(within(100)).rejects.toMatchObject({
      code: 'overloaded',
      message: expect.stringMatching(
        /^The answer would take about 2\d\d ms; the request may wait 100 ms\.$/,
      ),
      retryAfterS: 1,
    });
    const last = within(1_000);
    for (let image = 0; image <= before.length; image += 1) await finish();
    await Promise.all([...before, last]);
  });

  it.each([0, 3])(
    'lets %i requests wait besides those that run, at any rate',
    async (syncQueue) => {
      const { ask, finish } = await busy(syncQueue);
      const { admitted, refused } = await fill(ask);
      expect(admitted).toHaveLength(1 + syncQueue);
      expect(refused).toMatchObject({
        code: 'overloaded',
        message: `${admitted.length} synchronous requests are queued, the limit.`,
      });
      for (let image = 0; image <= syncQueue; image += 1) await finish();
      await Promise.all(admitted);
      const again = ask();
      await finish();
      await again;
    },
  );

  it('always admits a request if none is in hand, even after slow ones', async () => {
    const { one, ask, finish } = await busy(10_000, 1_000);
    const slow = [ask('slow'), ask('next')].map((each) => each.catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(60_000);
    for (const ended of await Promise.all(slow)) {
      expect(ended).toMatchObject({ code: 'deadline_exceeded' });
    }
    one.answer();
    await settle();
    const after = ask('after');
    await finish();
    expect(await after).toMatchObject({ workerId: 'one' });
  });
});

it('an image that cannot finish in the time left is not handed out', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const one = worker('one', { slots: { sync: 2, async: 1 }, workMs: 300 });
  const executor = open([one]);
  const ask = (path: string, deadlineMs: number) =>
    executor.detect(request(path, { kind: 'sync', deadlineMs }));
  const first = [ask('a', 9_000), ask('b', 9_000)];
  const late = expect(ask('late', 400)).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await vi.advanceTimersByTimeAsync(200);
  one.answer();
  await late;
  expect(one.seen).toEqual(['a', 'b']);
  one.answer();
  await Promise.all(first);
});

it('a worker is told at the deadline to drop the image, and gets the next one', async () => {
  const one = worker('one', { slots: { sync: 1, async: 1 } });
  vi.spyOn(one, 'detect').mockImplementationOnce(
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new LatticeError('cancelled', 'Cancelled.'));
        });
      }),
  );
  const executor = open([one]);
  const hanging = executor.detect(request('hanging', { kind: 'sync', deadlineMs: 20 }));
  const next = executor.detect(request('next', { kind: 'sync' }));
  await expect(hanging).rejects.toMatchObject({ code: 'deadline_exceeded' });
  await settle();
  expect(one.inHand).toEqual(['next']);
  one.answer();
  expect(await next).toMatchObject({ workerId: 'one' });
});

it('an image in a worker that hangs is answered at the deadline and reported once', async () => {
  const outcomes: string[] = [];
  const executor = open([worker('hanging')]);
  executor.onImage = (outcome) => outcomes.push(outcome);
  await expect(
    executor.detect(request('a', { kind: 'sync', deadlineMs: 20 })),
  ).rejects.toMatchObject({ code: 'deadline_exceeded', message: 'No result within 20 ms.' });
  expect(outcomes).toEqual(['deadline_exceeded']);
});
