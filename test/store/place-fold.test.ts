/** Vehicles that stand before cameras of watches, from the outcome of a picture to what is told. */
import { expect, test } from 'vitest';
import type { Region } from '../../src/api/region-rules.js';
import type { Detection } from '../../src/api/schemas/image.js';
import type { JobEvent } from '../../src/store/job.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder } from '../jobs/job-folder.js';
import { contentOf } from '../watches/watched-folder.js';

const MINUTE = 60;
/** A Monday. */
const START = 1_735_516_800;
const URL = 'http://localhost/hook';
const IMAGE = { width: 1000, height: 500 };

const car = (left: number, wobble = 0): Detection => ({
  class: 'car',
  confidence: 0.8,
  box: [left + wobble, 200, left + 120 + wobble, 280],
});
/** A car in the left half, which is a bay, and one in the right half, which is none. */
const [IN_BAY, IN_STREET] = [100, 700];
const HALF = [
  [0, 0],
  [0.5, 0],
  [0.5, 1],
  [0, 1],
] as const;
const BAY: Region = { name: 'bay 1', polygon: HALF };

class Lot implements AsyncDisposable {
  readonly #folder = new TemporaryFolder();
  readonly events: JobEvent[] = [];
  store!: ServiceStore;
  watch = 0;
  #jobs = 0;

  async open(): Promise<void> {
    this.store = await openStore(this.#folder.path);
    this.store.onCommitted((events) => this.events.push(...events));
  }

  async addWatch(regions: Region[] | null, places = true): Promise<void> {
    const content = contentOf();
    const { options } = content.settings;
    const settings = { ...content.settings, options: { ...options, regions }, places };
    const added = { ...content, settings: { ...settings, callbackUrl: URL } };
    this.watch = (await this.store.addWatch('', 'lot', added, [], START)).number;
  }

  /** Stores a job of a picture per minute, with a car at each of `lefts`, and takes them in. */
  async record(minutes: readonly number[], lefts: readonly number[]): Promise<void> {
    this.#jobs += 1;
    const submitted = await this.store.submitFiles({
      jobId: `job_${this.#jobs}`,
      submittedAt: START,
      idempotency: null,
      admit: true,
      watch: this.watch,
      files: minutes.map((at) => ({ path: `in/${at}.jpg`, version: `0-1-${at}` })),
    });
    const { number } = submitted!.job;
    const { fencingToken } = (await this.store.start(number, 'w', START))!;
    const outcomes = minutes.map((minute, index) => {
      const detections = lefts.map((left) => car(left, minute % 2));
      const taken = new Date((START + minute * MINUTE) * 1_000).toISOString().slice(0, 19);
      return {
        index,
        ok: true,
        outcome: JSON.stringify({ status: 'ok', detections, image: IMAGE }),
        taken: { time: taken, source: 'exif' as const },
      };
    });
    const at = START + Math.max(...minutes) * MINUTE + 1;
    expect(await this.store.record(number, fencingToken, outcomes, 'w', at)).not.toBeNull();
    while (await this.store.checkCameras(at + MINUTE / 2, []));
  }

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

async function lotWith(regions: Region[] | null, places = true): Promise<Lot> {
  const lot = new Lot();
  await lot.open();
  await lot.addWatch(regions, places);
  return lot;
}

const minutes = (from: number, until: number): number[] =>
  Array.from({ length: until - from }, (_, at) => from + at);

test('a vehicle that stands in a region is told once, and again when it has left, over restarts', async () => {
  await using lot = await lotWith([BAY]);
  await lot.record(minutes(0, 4), [IN_BAY, IN_STREET]);
  expect(lot.told()).toEqual([]);
  await lot.store.close();
  await lot.open();
  await lot.record(minutes(4, 12), [IN_BAY, IN_STREET]);
  const place = { camera: 'in', place: 1, stay: 2, class: 'car', regions: ['bay 1'], image: IMAGE };
  const occupied = {
    ...{ jobId: 'job_2', change: 'occupied', ...place, index: 1 },
    since: START,
    lastSeen: START + 5 * MINUTE,
    box: car(IN_BAY, 1).box,
  };
  expect(lot.told()).toEqual([{ event: 'place_occupied', ...occupied }]);
  expect(await lot.webhooks()).toEqual([occupied]);
  await lot.store.close();
  await lot.open();
  await lot.record(minutes(12, 30), [IN_STREET]);
  expect(lot.told()).toHaveLength(2);
  expect(lot.told()[1]).toMatchObject({
    ...{ event: 'place_left', jobId: 'job_3', change: 'left', ...place },
    since: START,
    lastSeen: START + 11 * MINUTE,
  });
  expect(await lot.webhooks()).toHaveLength(2);
  const { events } = await lot.store.events(0, 1_000);
  expect(events.filter(({ news }) => news).map(({ event }) => event)).toEqual([
    'place_occupied',
    'place_left',
  ]);
});

test('without regions the whole picture counts', async () => {
  await using lot = await lotWith(null);
  await lot.record(minutes(0, 10), [IN_BAY, IN_STREET]);
  expect(lot.told()).toMatchObject([
    { change: 'occupied', regions: [], place: 1 },
    { change: 'occupied', regions: [], place: 3 },
  ]);
});

test('beside a mask all vehicles are told', async () => {
  await using lot = await lotWith([{ ...BAY, ignore: true }]);
  await lot.record(minutes(0, 10), [IN_BAY, IN_STREET]);
  expect(lot.told()).toMatchObject([{ regions: [], box: car(IN_STREET, 1).box }]);
});

test('a mask, a region of other classes and a dismissed place say nothing', async () => {
  const { box } = car(IN_BAY);
  for (const region of [
    { ...BAY, ignore: true },
    { ...BAY, classes: ['bus'] },
  ]) {
    await using lot = await lotWith([region]);
    await lot.record(minutes(0, 10), [IN_BAY]);
    await lot.record(minutes(10, 30), []);
    expect(lot.told()).toEqual([]);
  }
  await using lot = await lotWith([BAY]);
  const place = { camera: 'in', group: 'vehicle', class: 'car', box, ...IMAGE };
  await lot.store.dismissPlace('', place, START);
  await lot.record(minutes(0, 10), [IN_BAY]);
  expect(lot.told()).toEqual([]);
});

test('jobs of a watch that does not ask for places queue nothing', async () => {
  await using lot = await lotWith([BAY], false);
  await lot.record(minutes(0, 10), [IN_BAY]);
  expect(lot.told()).toEqual([]);
});

test('a picture that comes too late changes nothing, and one that waits is taken in by its time', async () => {
  await using lot = await lotWith([BAY]);
  await lot.record([...minutes(0, 10)].reverse(), [IN_BAY]);
  expect(lot.told()).toMatchObject([{ change: 'occupied', since: START, index: 4 }]);
  await lot.record(minutes(-20, -5), []);
  expect(lot.told()).toHaveLength(1);
});
