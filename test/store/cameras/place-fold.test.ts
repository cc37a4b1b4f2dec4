/** Vehicles that stand before cameras of watches, from the outcome of a picture to what is told. */
import { expect, test } from 'vitest';
import type { Region } from '../../../src/api/region-rules.js';
import type { Detection } from '../../../src/api/schemas/image.js';
import { contentOf } from '../../watches/watched-folder.js';
import { IMAGE, START, WatchedPictures } from './watched-pictures.js';

const MINUTE = 60;

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

async function lotWith(regions: Region[] | null, places = true): Promise<WatchedPictures> {
  const lot = new WatchedPictures();
  await lot.open();
  const { settings } = contentOf();
  const { options } = settings;
  await lot.addWatch({ settings: { ...settings, places, options: { ...options, regions } } });
  return lot;
}

/** A picture per minute, with a car at each of `lefts`. */
const record = (lot: WatchedPictures, at: readonly number[], lefts: readonly number[]) =>
  lot.record(
    at.map((minute) => minute * MINUTE),
    (second) => lefts.map((left) => car(left, (second / MINUTE) % 2)),
  );

const minutes = (from: number, until: number): number[] =>
  Array.from({ length: until - from }, (_, at) => from + at);

test('a vehicle that stands in a region is told once, and again when it has left, over restarts', async () => {
  await using lot = await lotWith([BAY]);
  await record(lot, minutes(0, 4), [IN_BAY, IN_STREET]);
  expect(lot.told()).toEqual([]);
  await lot.reopen();
  await record(lot, minutes(4, 12), [IN_BAY, IN_STREET]);
  const place = { camera: 'in', place: 1, stay: 2, class: 'car', regions: ['bay 1'], image: IMAGE };
  const occupied = {
    ...{ jobId: 'job_2', change: 'occupied', ...place, index: 1 },
    since: START,
    lastSeen: START + 5 * MINUTE,
    box: car(IN_BAY, 1).box,
  };
  expect(lot.told()).toEqual([{ event: 'place_occupied', ...occupied }]);
  expect(await lot.webhooks()).toEqual([occupied]);
  await lot.reopen();
  await record(lot, minutes(12, 30), [IN_STREET]);
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
  await record(lot, minutes(0, 10), [IN_BAY, IN_STREET]);
  expect(lot.told()).toMatchObject([
    { change: 'occupied', regions: [], place: 1 },
    { change: 'occupied', regions: [], place: 3 },
  ]);
});

test('beside a mask all vehicles are told', async () => {
  await using lot = await lotWith([{ ...BAY, ignore: true }]);
  await record(lot, minutes(0, 10), [IN_BAY, IN_STREET]);
  expect(lot.told()).toMatchObject([{ regions: [], box: car(IN_STREET, 1).box }]);
});

test('a mask, a region of other classes and a dismissed place say nothing', async () => {
  const { box } = car(IN_BAY);
  for (const region of [
    { ...BAY, ignore: true },
    { ...BAY, classes: ['bus'] },
  ]) {
    await using lot = await lotWith([region]);
    await record(lot, minutes(0, 10), [IN_BAY]);
    await record(lot, minutes(10, 30), []);
    expect(lot.told()).toEqual([]);
  }
  await using lot = await lotWith([BAY]);
  const place = { folder: 'in', named: null, group: 'vehicle', class: 'car', box, ...IMAGE };
  await lot.store.dismissPlace('', place, START);
  await record(lot, minutes(0, 10), [IN_BAY]);
  expect(lot.told()).toEqual([]);
});

test('the regions are those of the view of a picture', async () => {
  await using lot = await lotWith(null);
  const { stored } = await lot.store.putView(
    '',
    'gate',
    { regions: [BAY], paths: [] },
    START,
    null,
  );
  const inView = (from: number, until: number, version: number) =>
    lot.record(
      minutes(from, until).map((minute) => minute * MINUTE),
      () => [car(IN_BAY), car(IN_STREET)],
      { name: 'gate', version },
    );
  // A picture of a version that is gone says nothing, and those behind it are taken in.
  await inView(0, 4, stored.version + 7);
  expect(lot.told()).toEqual([]);
  await inView(4, 14, stored.version);
  expect(lot.told()).toMatchObject([{ regions: ['bay 1'], since: START + 4 * MINUTE }]);
});

test('jobs of a watch that does not ask for places queue nothing', async () => {
  await using lot = await lotWith([BAY], false);
  await record(lot, minutes(0, 10), [IN_BAY]);
  expect(lot.told()).toEqual([]);
});

test('a picture that comes too late changes nothing, and one that waits is taken in by its time', async () => {
  await using lot = await lotWith([BAY]);
  await record(lot, [...minutes(0, 10)].reverse(), [IN_BAY]);
  expect(lot.told()).toMatchObject([{ change: 'occupied', since: START, index: 4 }]);
  await record(lot, minutes(-20, -5), []);
  expect(lot.told()).toHaveLength(1);
});
