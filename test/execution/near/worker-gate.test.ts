/** Workers over real sockets: who is let in, and what happens to images when one goes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import {
  CLOSE,
  WORKER_PATH,
  type Hello,
  type ServiceFrame,
} from '../../../src/execution/wire/frames.js';
import type { WorkerGateParts } from '../../../src/execution/near/worker-gate.js';
import { LatticeError } from '../../../src/api/errors.js';
import type { ImageResult } from '../../../src/api/schemas/image.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { BUILD, openWorkerRig, startWorker, type WorkerRig } from '../../support/worker-rig.js';
import { until } from '../../support/eventually.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';

let rig: WorkerRig;
const sockets: WebSocket[] = [];

async function open(parts: Partial<WorkerGateParts> = {}) {
  await rig.close();
  rig = await openWorkerRig(parts);
}

beforeEach(async () => {
  rig = await openWorkerRig();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await rig.close();
});

const image = (path: string, more: Partial<DetectRequest> = {}): DetectRequest => ({
  path,
  kind: 'async',
  options: { modelName: 'm.pt', ...DEFAULT_PARAMETERS, classes: null },
  ...more,
});

const result = (width: number): ImageResult => ({
  detections: [{ box: [1, 2, 3, 4], confidence: 0.75, class: 'car' }],
  image: { width, height: 10 },
  timingsMs: { queue: 0, decode: 1, preprocess: 1, inference: 1, postprocess: 1 },
  processingTimeMs: 4,
  model: 'm.pt',
  workerId: 'ignored',
  truncated: false,
});

const hello = (more: Partial<Hello> = {}): Hello => ({
  type: 'hello',
  build: BUILD,
  workerId: 'worker-0',
  nodeId: 'node-a',
  instance: 'first',
  host: 'host-a',
  pid: 1,
  roots: [],
  state: {
    slots: { sync: 2, async: 2 },
    syncParallel: 1,
    stats: {
      device: 'cpu',
      gpus: 0,
      precision: 'f32',
      reason: 'cpu: asked for; f32: asked for',
      queuedSync: 0,
      queuedAsync: 0,
      heldBytes: 0,
      hangingFolders: 0,
      modelSwaps: 0,
      refusedModelFiles: 0,
      suggestedWindow: 2,
    },
    modelDigests: {},
    fault: null,
  },
  ...more,
});

/** The answer to a lease with an image of this width. */
const resultFrame = (lease: number, width: number) => ({
  type: 'result',
  lease,
  result: result(width),
});

function withoutPid(): string {
  const { pid, ...rest } = hello();
  return JSON.stringify({ ...rest, notPid: pid });
}

/** A worker that does only what the test says. */
class HandWorker {
  readonly frames: ServiceFrame[] = [];
  readonly images: Buffer[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;

  constructor(options: ClientOptions = {}) {
    this.socket = new WebSocket(rig.server.url.replace('http', 'ws') + WORKER_PATH, options);
    sockets.push(this.socket);
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.images.push(data);
      else this.frames.push(JSON.parse(data.toString()) as ServiceFrame);
    });
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on('error', () => undefined);
  }

  static async join(more: Partial<Hello> = {}, options: ClientOptions = {}): Promise<HandWorker> {
    const worker = new HandWorker(options);
    await until(() => worker.socket.readyState === WebSocket.OPEN, 'open');
    worker.send(hello(more));
    await until(() => worker.frames.length > 0, 'welcome');
    return worker;
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  get leases(): { lease: number; path: string }[] {
    return this.frames.flatMap((frame) =>
      frame.type === 'detect' ? [{ lease: frame.lease, path: frame.request.path }] : [],
    );
  }

  async lease(at = 0): Promise<number> {
    await until(() => this.leases.length > at, `image ${at}`);
    return this.leases[at]!.lease;
  }

  async closing(): Promise<{ code: number; reason: string }> {
    await until(() => this.closed !== null, 'the close');
    return this.closed!;
  }
}

describe('admission of workers', () => {
  it('requires the token and refuses another one', async () => {
    await open({ token: 'the-token' });
    const wrong = new HandWorker({ headers: { authorization: 'Bearer wrong' } });
    await wrong.closing();
    expect(wrong.frames).toEqual([]);
    await new HandWorker().closing();
    const reason =
      'A worker at 127.0.0.1 was refused, because it has no worker token: ' +
      'the file LATTICE_WORKER_TOKEN_FILE must be the same on all machines.';
    expect(rig.gate.refusal).toBe(reason);
    // Workers dial again every 10 s: one line stands for all of them.
    expect(rig.logged.map(({ message }) => message)).toEqual([
      reason.replace('no worker token', 'another worker token than the service'),
    ]);
    await startWorker(rig, new ScriptedDetector(), { token: 'the-token' }).then((link) =>
      link.stop(0),
    );
  });

  it('names the worker that it refused, until that joins', async () => {
    await open({ token: 'the-token' });
    const named = { 'x-lattice-worker': 'worker-0', 'x-lattice-node': 'node-a' };
    await new HandWorker({ headers: { ...named, authorization: 'Bearer wrong' } }).closing();
    const reason =
      'worker-0 on node node-a at 127.0.0.1 was refused, because it has another worker token than the service: ' +
      'the file LATTICE_WORKER_TOKEN_FILE must be the same on all machines.';
    expect(rig.gate.absent()).toEqual([
      { workerId: 'worker-0', nodeId: 'node-a', state: 'refused', reason },
    ]);
    expect(rig.logged.map(({ message }) => message)).toEqual([reason]);
    await HandWorker.join({}, { headers: { authorization: 'Bearer the-token' } });
    expect(rig.gate.absent()).toEqual([]);
    // A program without the token says nothing of a worker that is there.
    await new HandWorker({ headers: named }).closing();
    expect(rig.gate.absent()).toEqual([]);
  });

  it('refuses a browser page', async () => {
    const page = new HandWorker({ origin: 'http://127.0.0.1:8000' });
    await page.closing();
    expect(page.frames).toEqual([]);
    expect(rig.detector.workers()).toEqual([]);
  });

  it('refuses another version with its close code, and logs it', async () => {
    const frames = [
      hello({ build: '0.0.1' }),
      { type: 'hello', build: '0.0.1', workerId: 'new-0' },
      { type: 'hello', build: 'x'.repeat(128), workerId: 7 },
      hello({ build: 'ü'.repeat(100) }),
    ];
    for (const frame of frames) {
      const worker = new HandWorker();
      await until(() => worker.socket.readyState === WebSocket.OPEN, 'open');
      worker.send(frame);
      expect(await worker.closing()).toMatchObject({
        code: CLOSE.otherBuild,
        reason: expect.stringContaining(BUILD),
      });
    }
    expect(rig.detector.workers()).toEqual([]);
    expect(rig.gate.refusal).toBe(
      `Worker worker-0 on host-a was refused: the service is version ${BUILD}, the worker unknown.`,
    );
    expect(
      rig.logged.filter(({ message }) => message.includes('a worker was refused')),
    ).toMatchObject([
      { fields: { workerId: 'worker-0', nodeId: 'node-a', host: 'host-a' } },
      { fields: { workerId: 'new-0', nodeId: 'unknown' } },
      { fields: { workerId: 'unknown' } },
      { fields: { workerId: 'worker-0' } },
    ]);
  });

  it.each([
    ['a frame before hello', JSON.stringify({ type: 'draining' }), /^type: /],
    ['a text that is no frame', 'what?', 'it is not JSON'],
    ['a hello of the same version that lacks something', withoutPid(), /^pid: /],
  ])('closes on %s and logs the reason', async (_what, frame, fault) => {
    const worker = new HandWorker();
    await until(() => worker.socket.readyState === WebSocket.OPEN, 'open');
    worker.send(frame);
    expect((await worker.closing()).code).toBe(CLOSE.badFrame);
    expect(rig.logged.filter(({ message }) => message.includes('was refused'))).toEqual([
      {
        message: 'a frame of a worker was refused',
        fields: expect.objectContaining({ fault: expect.stringMatching(fault) }) as object,
      },
    ]);
  });

  it('closes on an invalid result', async () => {
    const worker = await HandWorker.join();
    worker.send({ type: 'result', lease: 1, result: { ...result(1), detections: [{}] } });
    expect((await worker.closing()).code).toBe(CLOSE.badFrame);
    expect(rig.logged.map(({ fields }) => fields)).toContainEqual(
      expect.objectContaining({ fault: expect.stringContaining('result.detections.0.box') }),
    );
  });

  it('answers HTTP with 400, and is absent if images run in the service', async () => {
    expect((await fetch(rig.server.url + WORKER_PATH)).status).toBe(400);
  });

  it('warns when a worker cannot read the image roots', async () => {
    await open({ roots: ['/srv/photos', '/srv/more'] });
    const roots = [
      { path: '/srv/photos', readable: true },
      { path: '/srv/more', readable: false },
    ];
    await HandWorker.join({ roots });
    expect(rig.logged).toContainEqual({
      message: 'a worker cannot read all image roots of the service',
      fields: { workerId: 'worker-0', nodeId: 'node-a', missing: ['/srv/more'], roots },
    });
  });
});

it('a worker that is lost is listed with the reason until it is back; one that leaves is not', async () => {
  const lost = await HandWorker.join();
  lost.socket.terminate();
  await until(() => rig.gate.absent().length === 1, 'listed');
  expect(rig.gate.absent()).toEqual([
    {
      workerId: 'worker-0',
      nodeId: 'node-a',
      state: 'lost',
      reason: expect.stringMatching(
        /^Lost at \S+Z: The socket closed with 1006\. Is node node-a \(host host-a\) up, and does it reach the service\?$/,
      ),
    },
  ]);
  const back = await HandWorker.join({ nodeId: 'node-b' });
  expect(rig.gate.absent()).toEqual([]);
  back.send({ type: 'draining' });
  await until(() => rig.detector.workers()[0]?.worker.leaving === true, 'leaving');
  back.socket.close();
  await until(() => rig.detector.workers().length === 0, 'gone');
  expect(rig.gate.absent()).toEqual([]);
});

describe('leases', () => {
  it('a result is accepted once; a second or unexpected one is refused and counted', async () => {
    const worker = await HandWorker.join();
    const answer = rig.detector.detect(image('a.jpg'));
    const lease = await worker.lease();
    worker.send(resultFrame(lease, 11));
    expect(await answer).toMatchObject({
      image: { width: 11 },
      workerId: 'worker-0',
      model: 'm.pt',
      detections: [{ box: [1, 2, 3, 4], confidence: 0.75, class: 'car' }],
    });
    worker.send(resultFrame(lease, 12));
    worker.send(resultFrame(1, 13));
    worker.send({ type: 'failed', lease, error: { code: 'invalid_image', detail: 'late' } });
    await until(() => rig.stale() === 3, 'three stale answers');
    expect(rig.detector.workers()).toHaveLength(1);
  });

  it('an image that was sent follows its lease as it is, and goes to the next worker when one is lost', async () => {
    const sent = Buffer.alloc(200_000, 'image');
    const first = await HandWorker.join({ instance: 'a' });
    const answer = rig.detector.detect(image('image', { kind: 'sync', image: sent }));
    await until(() => first.images.length === 1, 'the image');
    expect(first.frames.at(-1)).toMatchObject({ type: 'detect', imageBytes: sent.length });
    first.socket.terminate();
    await until(() => rig.detector.workers().length === 0, 'lost');
    const second = await HandWorker.join({ instance: 'b' });
    await until(() => second.images.length === 1, 'the image again');
    second.send(resultFrame(await second.lease(), 7));
    expect((await answer).image.width).toBe(7);
    expect([...first.images, ...second.images].map((each) => each.equals(sent))).toEqual([
      true,
      true,
    ]);
  });

  it('a real worker gets the same bytes', async () => {
    const sent = Buffer.from([255, 0, 1, 2]);
    const detector = new ScriptedDetector();
    const link = await startWorker(rig, detector);
    await rig.detector.detect(image('image', { kind: 'sync', image: sent }));
    await rig.detector.detect(image('image', { kind: 'sync', image: Buffer.alloc(0) }));
    await rig.detector.detect(image('a.jpg'));
    expect(detector.requests.map((request) => request.image)).toEqual([
      sent,
      Buffer.alloc(0),
      undefined,
    ]);
    await link.stop(0);
  });

  it('a worker that reconnects cannot answer for its old lease', async () => {
    const before = await HandWorker.join({ instance: 'a' });
    const answer = rig.detector.detect(image('a.jpg'));
    const old = await before.lease();
    before.socket.terminate();
    await until(() => rig.detector.workers().length === 0, 'lost');
    const after = await HandWorker.join({ instance: 'a' });
    after.send(resultFrame(old, 1));
    const renewed = await after.lease();
    expect(renewed).not.toBe(old);
    after.send(resultFrame(renewed, 2));
    expect((await answer).image.width).toBe(2);
    expect(rig.stale()).toBe(1);
    expect(rig.detector.events.requeued).toBe(1);
  });

  it("passes the worker's errors on", async () => {
    const worker = await HandWorker.join();
    const answer = rig.detector.detect(image('a.jpg'));
    const lease = await worker.lease();
    const error = { code: 'model_not_ready', detail: 'Building.', retryAfterS: 30 };
    worker.send({ type: 'failed', lease, error });
    await expect(answer).rejects.toMatchObject({
      code: 'model_not_ready',
      message: 'Building.',
      retryAfterS: 30,
    });
  });

  it('a cancel reaches the worker', async () => {
    const worker = await HandWorker.join();
    const abort = new AbortController();
    const answer = rig.detector.detect(image('a.jpg', { signal: abort.signal }));
    const lease = await worker.lease();
    const refused = expect(answer).rejects.toMatchObject({ code: 'cancelled' });
    abort.abort();
    await until(() => worker.frames.some(({ type }) => type === 'cancel'), 'cancel');
    worker.send({ type: 'failed', lease, error: { code: 'cancelled', detail: 'Cancelled.' } });
    await refused;
  });
});

describe('workers that leave', () => {
  it('images of a lost worker run on the next; a drained worker loses none', async () => {
    const first = await HandWorker.join({ instance: 'a' });
    const answers = [rig.detector.detect(image('a.jpg')), rig.detector.detect(image('b.jpg'))];
    await first.lease(1);
    first.send({ type: 'draining' });
    const second = await HandWorker.join({ instance: 'b', workerId: 'worker-1' });
    answers.push(rig.detector.detect(image('c.jpg')));
    second.send(resultFrame(await second.lease(), 3));
    expect(await answers[2]).toMatchObject({ workerId: 'worker-1' });
    first.send(resultFrame(await first.lease(0), 1));
    await answers[0];
    first.socket.terminate();
    await until(() => second.leases.length === 2, 'the rest');
    expect(second.leases[1]!.path).toBe('b.jpg');
    second.send(resultFrame(await second.lease(1), 2));
    expect(await answers[1]).toMatchObject({ workerId: 'worker-1', image: { width: 2 } });
  });

  it('a worker that is stopping or has lost its GPU gets no more images, and its image goes to another', async () => {
    const first = await HandWorker.join({ instance: 'a' });
    const answer = rig.detector.detect(image('a.jpg'));
    const lease = await first.lease();
    first.send({ type: 'failed', lease, error: { code: 'gpu_lost', detail: 'Fell off the bus.' } });
    await until(() => rig.detector.events.requeued === 1, 'requeued');
    const second = await HandWorker.join({ instance: 'b' });
    second.send(resultFrame(await second.lease(), 1));
    await answer;
    expect(first.leases).toHaveLength(1);
  });

  it('a silent worker is given up, and its image runs on another', async () => {
    await open({ silenceMs: 150, beatMs: 20 });
    // As a machine that vanished: no answer to pings, no close.
    const silent = await HandWorker.join({ instance: 'a' }, { autoPong: false });
    const answer = rig.detector.detect(image('a.jpg'));
    await silent.lease();
    await until(() => rig.detector.workers().length === 0, 'given up');
    const second = await HandWorker.join({ instance: 'b' });
    second.send(resultFrame(await second.lease(), 1));
    await answer;
  });

  it('a service that was late itself gives no worker up', async () => {
    await open({ silenceMs: 150, beatMs: 20 });
    const worker = await HandWorker.join({ instance: 'a' });
    const answer = rig.detector.detect(image('a.jpg'));
    const lease = await worker.lease();
    let pings = 0;
    worker.socket.on('ping', () => (pings += 1));
    // Its event loop stands still; its timers are due before what the worker has sent meanwhile is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    await until(() => pings > 3, 'pings after it');
    worker.send(resultFrame(lease, 5));
    expect((await answer).image.width).toBe(5);
    expect(rig.detector.events.requeued).toBe(0);
  });

  it('the synchronous image of a worker that is not heard runs on another before it is given up', async () => {
    await open({ beatMs: 20 });
    const silent = await HandWorker.join({ instance: 'a' }, { autoPong: false });
    const answer = rig.detector.detect(image('a.jpg', { kind: 'sync' }));
    await silent.lease();
    const second = await HandWorker.join({ instance: 'b', nodeId: 'node-b' });
    second.send(resultFrame(await second.lease(), 7));
    expect((await answer).image.width).toBe(7);
    const { worker } = rig.detector.workers()[0]!;
    expect(worker.unhealthy()?.message).toMatch(
      /^Nothing was heard of node node-a \(host host-a\) /,
    );
    silent.send({ type: 'state', state: hello().state });
    await until(() => worker.unhealthy() === null, 'heard again');
  });

  it.each([
    ['the longest lease', { leaseMs: 100 }, {}],
    ['its deadline and the grace', { graceMs: 100 }, { deadlineMs: 60 }],
  ])('a worker that hangs with an image is given up after %s', async (_what, times, more) => {
    await open({ ...times, beatMs: 20 });
    const hanging = await HandWorker.join({ instance: 'a' });
    const hung = rig.detector.detect(image('a.jpg', more)).catch((error: unknown) => error);
    await hanging.lease();
    const before = performance.now();
    await hanging.closing();
    expect(performance.now() - before).toBeGreaterThan(70);
    const second = await HandWorker.join({ instance: 'b' });
    if ('deadlineMs' in more) expect(await hung).toMatchObject({ code: 'deadline_exceeded' });
    else {
      second.send(resultFrame(await second.lease(), 1));
      expect(await hung).toMatchObject({ image: { width: 1 } });
    }
  });

  it('a process that reconnects replaces its half-open socket', async () => {
    const old = await HandWorker.join({ instance: 'same' });
    const answer = rig.detector.detect(image('a.jpg'));
    const lease = await old.lease();
    // As if the service's close were still on its way while the answer is sent.
    old.socket.pause();
    const renewed = await HandWorker.join({ instance: 'same' });
    old.send(resultFrame(lease, 9));
    await until(() => rig.stale() === 1, 'the late answer is refused');
    old.socket.resume();
    expect((await old.closing()).code).toBe(CLOSE.replaced);
    renewed.send(resultFrame(await renewed.lease(), 1));
    await answer;
    expect(rig.detector.workers()).toHaveLength(1);
  });

  it('new slots count at once', async () => {
    const worker = await HandWorker.join();
    const answers = ['a', 'b', 'c'].map((path) => rig.detector.detect(image(path)));
    await worker.lease(1);
    const { state } = hello();
    worker.send({ type: 'state', state: { ...state, slots: { sync: 2, async: 3 } } });
    await worker.lease(2);
    for (const { lease } of worker.leases) worker.send(resultFrame(lease, 1));
    await Promise.all(answers);
  });
});

describe('a complete worker', () => {
  it('runs images through its detector, names its node in errors of the path, and drains', async () => {
    const detector = new ScriptedDetector();
    const link = await startWorker(rig, detector, { nodeId: 'node-7' });
    expect(await rig.detector.detect(image('street.jpg'))).toMatchObject({
      workerId: detector.workerId,
    });
    detector.answer = () =>
      Promise.reject(new LatticeError('image_not_found', 'There is no such file.'));
    await expect(rig.detector.detect(image('gone.jpg'))).rejects.toMatchObject({
      code: 'image_not_found',
      message: 'There is no such file. (node node-7)',
    });
    await link.stop(1_000);
    await until(() => rig.detector.workers().length === 0, 'left');
    expect(rig.logged.at(-1)!.message).toBe('a worker left');
  });

  it('reconnects when the service is back, and serves', async () => {
    const detector = new ScriptedDetector();
    const link = await startWorker(rig, detector);
    const { port } = rig.server;
    await rig.close();
    rig = await openWorkerRig({}, undefined, port);
    await until(() => rig.detector.workers().length === 1, 'back');
    await rig.detector.detect(image('street.jpg'));
    await link.stop(0);
  });
});

it('the most regions of the most points travel, and the most boxes that lie in all of them', async () => {
  const regions = Array.from({ length: 50 }, (_, at) => ({
    name: `${at}`.padEnd(64, '\u4e16'),
    polygon: Array.from(
      { length: 100 },
      (_corner, corner) => [corner / 99, Math.random()] as const,
    ),
    classes: Array.from({ length: 100 }, (_name, name) => `${name}`.padEnd(200, 'x')),
  }));
  const names = regions.map(({ name }) => name);
  const worker = new ScriptedDetector();
  worker.answer = () =>
    Promise.resolve({
      ...result(10),
      detections: Array.from({ length: 300 }, () => ({
        ...result(10).detections[0]!,
        regions: names,
      })),
      regionCounts: Object.fromEntries(names.map((name) => [name, { car: 300 }])),
    });
  const link = await startWorker(rig, worker);
  const options = { ...image('a.jpg').options, regions };
  const { detections, regionCounts } = await rig.detector.detect(image('a.jpg', { options }));
  expect(worker.requests).toMatchObject([{ options: { regions } }]);
  expect(detections.at(-1)?.regions).toEqual(names);
  expect(Object.keys(regionCounts ?? {})).toEqual(names);
  await link.stop(0);
});
