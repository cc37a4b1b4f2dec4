/** The health of cameras in the store, from the outcome of a picture to what is told. */
import { expect, test } from 'vitest';
import type { JobEvent } from '../../src/store/job.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder } from '../jobs/job-folder.js';
import { SyntheticCamera, type Fault } from '../support/synthetic-camera.js';
import { contentOf } from '../watches/watched-folder.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** So long every hour of the day becomes known: half an hour lies between two pictures. */
const LEARNT = 4 * DAY + 9 * HOUR;
/** A Monday. */
const START = 1_735_516_800;
const TRAITS = { seed: 5, night: 0.5, sunrise: 6, sunset: 20, noise: 3, traffic: 2 };
const URL = 'http://localhost/hook';

class Cameras implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly #camera = new SyntheticCamera(TRAITS);
  readonly events: JobEvent[] = [];
  store!: ServiceStore;
  watch = 0;
  #jobs = 0;

  async open(): Promise<void> {
    this.store = await openStore(this.#folder.path);
    this.store.onCommitted((events) => this.events.push(...events));
  }

  async addWatch(name = 'gate'): Promise<void> {
    const content = {
      ...contentOf({ cameraHealth: true }),
      settings: { ...contentOf().settings, callbackUrl: URL },
    };
    this.watch = (await this.store.addWatch('', name, content, [], START)).number;
  }

  /** Stores the outcomes of pictures, in this order, as one job. */
  async record(times: readonly number[], fault: Fault | null = null, folder = 'in'): Promise<void> {
    this.#jobs += 1;
    const submitted = await this.store.submitFiles({
      jobId: `job_${this.#jobs}`,
      submittedAt: START,
      idempotency: null,
      admit: true,
      watch: this.watch,
      files: times.map((time) => ({ path: `${folder}/${time}.jpg`, version: `0-1-${time}` })),
    });
    const { number, spec } = submitted!.job;
    expect(spec.cameraHealth).toBe(true);
    const { fencingToken } = (await this.store.start(number, 'w', START))!;
    const outcomes = times.map((time, index) => {
      const { look, boxes, contentDigest } = this.#camera.picture(time - START, fault);
      const box = { class: 'car', confidence: 0.7, box: [0, 0, 9, 9] };
      const detections = Array.from({ length: boxes }, () => box);
      const taken = new Date(time * 1_000).toISOString().slice(0, 19);
      return {
        index,
        ok: true,
        outcome: JSON.stringify({ status: 'ok', detections, file: { digest: contentDigest } }),
        taken: { time: taken, source: 'exif' as const },
        look,
      };
    });
    const at = Math.max(...times) + 1;
    expect(await this.store.record(number, fencingToken, outcomes, 'w', at)).not.toBeNull();
  }

  /** Pictures of days, and then covered ones. Returns the time after the last. */
  async cover(): Promise<number> {
    await this.record(halfHours(START, START + LEARNT));
    const from = START + LEARNT;
    const until = from + 3 * HOUR;
    await this.record(halfHours(from, until), 'black');
    await this.check(until);
    return until;
  }

  async check(now: number, since: number | null = null): Promise<void> {
    const working = since === null ? [] : [{ watch: this.watch, since }];
    while (await this.store.checkCameras(now, working));
  }

  kinds = async () =>
    (await this.store.cameras(this.watch)).map(({ camera, open, closed }) => ({
      camera,
      open: open.map(({ kind }) => kind),
      closed: closed.map(({ kind }) => kind),
    }));

  told = () =>
    this.events.flatMap(({ event, jobId, news }) =>
      news === undefined ? [] : [{ event, jobId, ...news }],
    );

  webhooks = async () =>
    (await this.store.webhooks.due(9e9, { limit: 100, perHost: 100, without: [] })).flatMap(
      ({ jobId, news }) => (news === null ? [] : [{ jobId, ...news }]),
    );

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    this.#folder[Symbol.dispose]();
  }
}

function halfHours(from: number, until: number): number[] {
  return Array.from({ length: (until - from) / 1_800 }, (_, at) => from + at * 1_800);
}

async function opened(): Promise<Cameras> {
  const cameras = new Cameras();
  await cameras.open();
  await cameras.addWatch();
  return cameras;
}

test('a covered camera is one finding, with its picture, one event and one webhook', async () => {
  await using cameras = await opened();
  const until = await cameras.cover();
  const [camera] = await cameras.store.cameras(cameras.watch);
  const began = until - 3 * HOUR;
  const image = { jobId: 'job_2', index: 0, path: `in/${began}.jpg` };
  expect(camera).toMatchObject({
    camera: 'in',
    last: until - 1_800,
    picture: { jobId: 'job_2', index: 5 },
    open: [{ kind: 'covered', began, image, silencedUntil: null }],
    closed: [],
  });
  const news = { camera: 'in', kind: 'covered', began, index: 0, jobId: 'job_2' };
  expect(cameras.told()).toEqual([{ event: 'camera_finding_opened', change: 'opened', ...news }]);
  expect(await cameras.webhooks()).toEqual([{ change: 'opened', ...news }]);
  expect(await cameras.store.openFindings()).toEqual([{ kind: 'covered', findings: 1 }]);
  const { events } = await cameras.store.events(0, 1_000);
  expect(events).toEqual(cameras.events);
});

test('a step takes in each picture once, also over a restart, and in order of time', async () => {
  await using cameras = await opened();
  const times = halfHours(START, START + LEARNT);
  await cameras.record(times.slice(0, 60).reverse());
  await cameras.record(times.slice(60));
  const now = START + 6 * DAY;
  await cameras.store.checkCameras(now, []);
  await cameras.store.close();
  await cameras.open();
  await cameras.check(now);
  const from = START + LEARNT;
  await cameras.record(halfHours(from, from + 3 * HOUR), 'black');
  await cameras.store.close();
  await cameras.open();
  await cameras.check(now);
  await cameras.check(now);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: ['covered'], closed: [] }]);
  expect(cameras.told()).toHaveLength(1);
  expect(await cameras.webhooks()).toHaveLength(1);
});

test('a picture waits for earlier ones of its camera', async () => {
  await using cameras = await opened();
  await cameras.record([START + HOUR]);
  await cameras.check(START + HOUR + 2);
  expect(await cameras.kinds()).toEqual([]);
  await cameras.check(START + HOUR + 7);
  expect(await cameras.kinds()).toHaveLength(1);
});

test('a camera is late by its own past, while the watch works', async () => {
  await using cameras = await opened();
  const end = START + 2 * DAY + 12 * HOUR;
  await cameras.record(halfHours(START, end));
  await cameras.check(end + HOUR, START);
  await cameras.check(end + DAY);
  await cameras.check(end + DAY, end + DAY - HOUR);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: [] }]);
  await cameras.check(end + DAY, START);
  await cameras.check(end + 2 * DAY, START);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: ['late'], closed: [] }]);
  await cameras.record([end + 2 * DAY]);
  await cameras.check(end + 3 * DAY);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['late'] }]);
  expect(cameras.told().map(({ change }) => change)).toEqual(['opened', 'closed']);
});

test('a silenced finding closes without a word', async () => {
  await using cameras = await opened();
  const until = await cameras.cover();
  const change = (
    ...parts: [kind: 'covered' | 'moved', action: 'dismiss' | { silencedUntil: number }]
  ) => cameras.store.changeFinding(cameras.watch, 'in', ...parts, until);
  expect(await change('moved', 'dismiss')).toBe(false);
  expect(await change('covered', { silencedUntil: until + DAY })).toBe(true);
  const [camera] = await cameras.store.cameras(cameras.watch);
  expect(camera?.open).toMatchObject([{ silencedUntil: until + DAY }]);
  await cameras.record(halfHours(until, until + 3 * HOUR));
  await cameras.check(until + 4 * HOUR);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['covered'] }]);
  expect(cameras.told()).toHaveLength(1);
});

test('a finding that is dismissed ends, and the camera has another usual picture', async () => {
  await using cameras = await opened();
  const until = await cameras.cover();
  await cameras.store.changeFinding(cameras.watch, 'in', 'covered', 'dismiss', until);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['covered'] }]);
  await cameras.record(halfHours(until, until + 3 * HOUR), 'black');
  await cameras.check(until + 4 * HOUR);
  expect(await cameras.kinds()).toMatchObject([{ closed: ['covered'] }]);
  expect(
    cameras
      .told()
      .map(({ change }) => change)
      .slice(0, 2),
  ).toEqual(['opened', 'closed']);
});

test('a watch remembers its latest thousand cameras, and none once it is deleted', async () => {
  await using cameras = await opened();
  for (let camera = 0; camera < 1_002; camera += 1) {
    await cameras.record([START + camera], null, `in/${camera}`);
  }
  await cameras.check(START + HOUR);
  const names = (await cameras.kinds()).map(({ camera }) => camera);
  expect(names).toHaveLength(1_000);
  expect(names).not.toContain('in/1');
  expect(names).toContain('in/1001');
  await cameras.store.deleteWatch(cameras.watch);
  expect(await cameras.kinds()).toEqual([]);
});

test('a picture of a clock that is ahead counts from its arrival', async () => {
  await using cameras = await opened();
  const ahead = START + 400 * DAY;
  await cameras.record([ahead, START + HOUR]);
  await cameras.check(ahead + DAY);
  const [camera] = await cameras.store.cameras(cameras.watch);
  expect(camera?.last).toBe(ahead);
});
