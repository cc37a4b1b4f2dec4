/** The dispatcher over lanes that do what the test says. */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Dispatcher } from '../../src/execution/dispatcher.js';
import { LaneDetector } from '../../src/execution/lane-detector.js';
import { LatticeError } from '../../src/errors.js';
import type { ImageResult } from '../../src/contract/image-result.js';
import type { ModelDescription } from '../../src/contract/model-description.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { SimulatedLane, type SimulatedLaneOptions } from '../support/simulated-lane.js';

const model = (name: string, more: Partial<ModelDescription> = {}): ModelDescription => ({
  name,
  state: 'available',
  reason: null,
  classes: ['car'],
  device: null,
  precision: null,
  input: null,
  memoryBytes: null,
  licence: null,
  bundled: false,
  isDefault: false,
  ...more,
});

function open(lanes: SimulatedLane[] = []) {
  const dispatcher = new Dispatcher(() => 'Nobody has come yet.');
  for (const lane of lanes) dispatcher.join(lane);
  const detector = new LaneDetector(dispatcher, {
    catalogue: {
      models: () => Promise.resolve([model('folder.pt')]),
      prepare: (name) => Promise.resolve(model(name)),
    },
    readImage: () => Promise.resolve(Buffer.from('bytes')),
  });
  return { dispatcher, detector };
}

const request = (path: string, more: Partial<DetectRequest> = {}): DetectRequest => ({
  path,
  class: 'async',
  options: { modelName: 'm.pt', confidence: 0.5, iou: 0.7, maxDetections: 300, classes: null },
  ...more,
});

/** Lets everything that is due happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function lose(dispatcher: Dispatcher, lane: SimulatedLane) {
  dispatcher.leave(lane);
  lane.lose();
  return settle();
}

const lane = (name: string, options: SimulatedLaneOptions = {}) => new SimulatedLane(name, options);

afterEach(() => {
  vi.useRealTimers();
});

describe('order', () => {
  it('gives a lane no more than its slots, and the next image when one is free', async () => {
    const one = lane('one', { slots: { sync: 1, async: 2 } });
    const { detector } = open([one]);
    const all = ['a', 'b', 'c'].map((path) => detector.detect(request(path)));
    expect(one.inHand).toEqual(['a', 'b']);
    one.answer();
    await all[0];
    expect(one.inHand).toEqual(['b', 'c']);
    one.answer(2);
    await Promise.all(all);
  });

  it('hands out by priority, then by arrival; synchronous requests have slots of their own', async () => {
    const one = lane('one', { slots: { sync: 1, async: 1 } });
    const { detector } = open([one]);
    const waiting: [string, Partial<DetectRequest>][] = [
      ['first', {}],
      ['low', { priority: 1 }],
      ['high', { priority: 9 }],
      ['high, later', { priority: 9 }],
      ['none', {}],
      ['sync', { class: 'sync' }],
    ];
    const all = waiting.map(([path, more]) => detector.detect(request(path, more)));
    expect(one.inHand).toEqual(['first', 'sync']);
    for (let left = waiting.length; left > 0; left -= 1) {
      one.answer();
      await settle();
    }
    await Promise.all(all);
    expect(one.seen).toEqual(['first', 'sync', 'high', 'high, later', 'low', 'none']);
  });

  it('spreads images of jobs by free share, synchronous ones to the lane that answers soonest', async () => {
    const small = lane('small', { slots: { sync: 1, async: 2 } });
    const large = lane('large', { slots: { sync: 1, async: 6 } });
    const { detector } = open([small, large]);
    const jobs = Array.from({ length: 4 }, (_, index) => detector.detect(request(`${index}`)));
    expect([small.inHand.length, large.inHand.length]).toEqual([1, 3]);
    small.answer(2);
    await settle();
    const sync = detector.detect(request('now', { class: 'sync' }));
    expect(small.inHand).toContain('now');
    small.answer(9);
    large.answer(9);
    await Promise.all([...jobs, sync]);
  });

  it('keeps work from a lane that is leaving or does not see', async () => {
    const leaving = lane('leaving');
    leaving.leaving = true;
    const blind = lane('blind');
    blind.fault = new LatticeError('invalid_model', 'It sees nothing.');
    const well = lane('well');
    const { detector } = open([leaving, blind, well]);
    const all = Array.from({ length: 2 }, () => detector.detect(request('a')));
    expect(well.inHand).toHaveLength(2);
    expect([leaving.seen, blind.seen]).toEqual([[], []]);
    expect(detector.unhealthy()).toBeNull();
    well.answer(2);
    await Promise.all(all);
  });
});

describe('lost lanes', () => {
  it('hand their images to the others, before those that wait', async () => {
    const one = lane('one');
    const two = lane('two', { slots: { sync: 1, async: 1 } });
    const { dispatcher, detector } = open([one]);
    const all = ['a', 'b', 'c'].map((path) => detector.detect(request(path)));
    dispatcher.join(two);
    expect(two.inHand).toEqual(['c']);
    const last = detector.detect(request('d'));
    await lose(dispatcher, one);
    for (let left = 4; left > 0; left -= 1) {
      two.answer();
      await settle();
    }
    expect((await Promise.all([...all, last])).every(({ workerId }) => workerId === 'two')).toBe(
      true,
    );
    expect(two.seen).toEqual(['c', 'a', 'b', 'd']);
    expect(dispatcher.requeued).toBe(2);
  });

  it.each([
    ['async', 3],
    ['sync', 2],
  ] as const)('an %s image ends as worker_lost with the loss number %i', async (kind, losses) => {
    const { dispatcher, detector } = open();
    const lost = detector.detect(request('poison', { class: kind }));
    const outcome = expect(lost).rejects.toMatchObject({
      code: 'worker_lost',
      message: expect.stringContaining(`${losses} workers`),
    });
    for (let number = 1; number <= losses; number += 1) {
      const victim = lane(`victim-${number}`);
      dispatcher.join(victim);
      expect(victim.inHand).toEqual(['poison']);
      await lose(dispatcher, victim);
    }
    await outcome;
    expect(detector.stats().queuedAsync + detector.stats().queuedSync).toBe(0);
  });

  it('an image that failed by itself is not handed out again', async () => {
    const one = lane('one');
    const two = lane('two');
    const { detector } = open([one, two]);
    const failed = detector.detect(request('a'));
    for (const each of [one, two]) each.fail(new LatticeError('invalid_image', 'Not a picture.'));
    await expect(failed).rejects.toMatchObject({ code: 'invalid_image' });
    expect(one.seen.length + two.seen.length).toBe(1);
  });
});

describe('ends', () => {
  it('answers a cancel in the queue at once; a lane answers for what it has', async () => {
    const one = lane('one', { slots: { sync: 1, async: 1 } });
    const { detector } = open([one]);
    const first = detector.detect(request('a'));
    const abort = new AbortController();
    const waiting = detector.detect(request('b', { signal: abort.signal }));
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    one.answer();
    await first;
    expect(one.seen).toEqual(['a']);
  });

  it('a deadline passes: 500 without any worker, 504 behind others or in a lane that hangs', async () => {
    const nobody = open().detector;
    await expect(
      nobody.detect(request('a', { class: 'sync', deadlineMs: 20 })),
    ).rejects.toMatchObject({
      code: 'detection_failed',
      message: 'No worker. Nobody has come yet.',
    });
    const hanging = lane('hanging', { slots: { sync: 1, async: 1 } });
    const { detector } = open([hanging]);
    const outcomes = ['a', 'b'].map((path) =>
      expect(detector.detect(request(path, { deadlineMs: 20 }))).rejects.toMatchObject({
        code: 'deadline_exceeded',
      }),
    );
    await Promise.all(outcomes);
  });

  it('close refuses what waits, and everything after', async () => {
    const one = lane('one', { slots: { sync: 1, async: 1 } });
    const { detector } = open([one]);
    const outcomes = ['a', 'b'].map((path) =>
      expect(detector.detect(request(path))).rejects.toMatchObject({ code: 'shutting_down' }),
    );
    await detector.close();
    await detector.close();
    await Promise.all(outcomes);
    expect(one.closed).toBe(true);
    await expect(detector.detect(request('c'))).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(detector.readImage('c')).rejects.toMatchObject({ code: 'shutting_down' });
  });
});

describe('what it says', () => {
  it('sums its lanes up', () => {
    const { detector } = open([
      lane('one', { nodeId: 'x', slots: { sync: 1, async: 3 } }),
      lane('two', { nodeId: 'x', slots: { sync: 1, async: 4 } }),
    ]);
    expect(detector.stats()).toMatchObject({
      device: 'simulated',
      precision: 'fp16',
      gpus: 2,
      reason: '2 workers on 1 node',
      suggestedWindow: 7,
    });
    expect(detector.workerId).toBe('');
  });

  it('is unhealthy without a lane, or when none is well', () => {
    const { dispatcher, detector } = open();
    expect(detector.unhealthy()).toMatchObject({ code: 'cluster_unavailable' });
    expect(detector.stats()).toMatchObject({ device: 'none', suggestedWindow: 1 });
    const blind = lane('blind');
    blind.fault = new LatticeError('invalid_model', 'It sees nothing.');
    dispatcher.join(blind);
    expect(detector.unhealthy()).toMatchObject({ code: 'invalid_model' });
  });

  it('lists models of all lanes once, as the one that is furthest; of the folder when none answers', async () => {
    const one = lane('one');
    const two = lane('two');
    const { detector } = open([one, two]);
    expect((await detector.models()).map(({ name }) => name)).toEqual(['folder.pt']);
    one.offers = [model('a.pt'), model('b.pt', { state: 'ready' })];
    two.offers = [model('a.pt', { state: 'ready' }), model('c.pt', { state: 'refused' })];
    expect((await detector.models()).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'a.pt ready',
      'b.pt ready',
      'c.pt refused',
    ]);
    expect(await detector.prepare('x.pt')).toMatchObject({ name: 'x.pt' });
  });
});

const noVolume = new LatticeError('volume_unavailable', 'It hangs.');

describe('a lane that cannot run what others can', () => {
  const asked = (detector: LaneDetector, count: number, more: Partial<DetectRequest> = {}) =>
    Array.from({ length: count }, (_, index) => detector.detect(request(`${index}`, more)));

  it.each(['sync', 'async'] as const)('hands its %s images on to the others', async (kind) => {
    const without = lane('without');
    const well = lane('well', { slots: { sync: 1, async: 1 } });
    const { dispatcher, detector } = open([without, well]);
    const all = asked(detector, 20, { class: kind });
    for (let i = 0; i < 200; i += 1) {
      without.fail(noVolume);
      if (i % 5 === 0) well.answer();
      await settle();
    }
    for (const { workerId } of await Promise.all(all)) expect(workerId).toBe('well');
    // No image comes twice to the lane that cannot run it.
    expect(new Set(without.seen).size).toBe(without.seen.length);
    expect(dispatcher.waiting).toEqual({ sync: 0, async: 0 });
  });

  it('answers for itself when there is no other, or none that can', async () => {
    const one = lane('one');
    const two = lane('two');
    const { dispatcher, detector } = open([one, two]);
    const refused = () =>
      expect(detector.detect(request('a'))).rejects.toMatchObject({ code: 'volume_unavailable' });
    const first = refused();
    for (let i = 0; i < 2; i += 1) {
      one.fail(noVolume);
      two.fail(noVolume);
      await settle();
    }
    await first;
    dispatcher.leave(two);
    const second = refused();
    one.fail(noVolume);
    await second;
  });

  it('hands on nothing that was cancelled meanwhile', async () => {
    const without = lane('without', { slots: { sync: 1, async: 1 } });
    const well = lane('well', { slots: { sync: 1, async: 1 } });
    const { dispatcher, detector } = open([without, well]);
    const abort = new AbortController();
    const [first] = asked(detector, 2, { signal: abort.signal });
    const refused = expect(first).rejects.toMatchObject({ code: 'cancelled' });
    abort.abort();
    without.fail(noVolume);
    await refused;
    expect(dispatcher.waiting.async).toBe(0);
    well.answer();
  });

  it('answers when the one that could goes meanwhile', async () => {
    const without = lane('without', { slots: { sync: 1, async: 1 } });
    const well = lane('well', { slots: { sync: 1, async: 1 } });
    const { dispatcher, detector } = open([without, well]);
    const all = asked(detector, 2);
    without.fail(noVolume);
    await settle();
    expect(dispatcher.waiting.async).toBe(1);
    dispatcher.leave(well);
    dispatcher.refresh();
    await expect(Promise.race(all)).rejects.toMatchObject({ code: 'volume_unavailable' });
    well.answer();
    await Promise.allSettled(all);
  });

  it('does not get what a busy healthy lane has no room for', async () => {
    const ill = lane('ill');
    ill.fault = new LatticeError('model_not_ready', 'It is wrong.');
    const well = lane('well', { slots: { sync: 1, async: 1 } });
    const { detector } = open([ill, well]);
    const all = asked(detector, 5);
    expect(ill.seen).toEqual([]);
    for (let i = 0; i < 5; i += 1) {
      well.answer();
      await settle();
    }
    await Promise.all(all);
    expect(ill.seen).toEqual([]);
  });
});

/** What may happen, in any order. */
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

it('answers every request exactly once and never overfills a lane, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(events, async (steps) => {
      const { dispatcher, detector } = open();
      let lanes: SimulatedLane[] = [];
      const all: SimulatedLane[] = [];
      const aborts: AbortController[] = [];
      const outcomes: Promise<ImageResult | LatticeError>[] = [];
      for (const [index, { kind, pick }] of steps.entries()) {
        const chosen = lanes[pick % Math.max(1, lanes.length)];
        if (kind === 'ask') {
          const abort = new AbortController();
          aborts.push(abort);
          const asked = request(`${index}`, {
            class: pick % 3 === 0 ? 'sync' : 'async',
            priority: pick % 11,
            signal: abort.signal,
          });
          outcomes.push(detector.detect(asked).catch((error: unknown) => error as LatticeError));
        } else if (kind === 'answer') chosen?.answer(1 + (pick % 3));
        else if (kind === 'refuse') chosen?.fail(noVolume);
        else if (kind === 'ail' && chosen !== undefined)
          chosen.fault = chosen.fault === null ? noVolume : null;
        else if (kind === 'cancel') aborts[pick % Math.max(1, aborts.length)]?.abort();
        else if (kind === 'join') {
          const joined = lane(`lane-${index}`, { slots: { sync: 1, async: 1 + (pick % 3) } });
          lanes.push(joined);
          all.push(joined);
          dispatcher.join(joined);
        } else if (chosen !== undefined) {
          lanes = lanes.filter((other) => other !== chosen);
          dispatcher.leave(chosen);
          chosen.lose();
        }
        await settle();
      }
      // From here on nothing is lost: what is left must be answered.
      const last = lane('last', { slots: { sync: 9, async: 9 }, serviceMs: 0 });
      for (const each of lanes) {
        each.serviceMs = 0;
        each.answer(99);
      }
      dispatcher.join(last);
      const settled = await Promise.all(outcomes);
      for (const outcome of settled) {
        if (outcome instanceof Error) {
          expect(['cancelled', 'worker_lost', 'volume_unavailable']).toContain(outcome.code);
        }
      }
      for (const { mostInHand, slots } of all) {
        expect(mostInHand).toBeLessThanOrEqual(slots.sync + slots.async);
      }
      const { completed, failed, inFlight, queuedAsync, queuedSync } = detector.stats();
      expect({ inFlight, queuedAsync, queuedSync }).toEqual({
        inFlight: 0,
        queuedAsync: 0,
        queuedSync: 0,
      });
      expect(completed + failed).toBe(outcomes.length);
    }),
    { numRuns: 150 },
  );
});
