/** Events of cameras of watches, from the outcomes of pictures to what is told. */
import { expect, test } from 'vitest';
import type { Detection } from '../../../src/api/schemas/image.js';
import { IMAGE, START, WatchedPictures } from './watched-pictures.js';

const GAP_S = 60;

const boxes = (cars: number): Detection[] =>
  Array.from({ length: cars }, (_, at) => ({
    class: 'car',
    confidence: 0.8,
    box: [100 * at, 200, 100 * at + 80, 280],
  }));

async function gate(eventGapS: number | null = GAP_S): Promise<WatchedPictures> {
  const pictures = new WatchedPictures();
  await pictures.open();
  await pictures.addWatch({ eventGapS });
  return pictures;
}

test('a burst of pictures is told once, with its largest count and its best picture', async () => {
  await using pictures = await gate();
  await pictures.record([0, 2, 4], (second) => boxes(second === 2 ? 3 : 1));
  expect(pictures.told()).toEqual([]);
  await pictures.reopen();
  await pictures.record([50], () => boxes(1));
  await pictures.record([500], () => []);
  const event = {
    ...{ jobId: 'job_1', change: 'ended', camera: 'in', index: 1, images: 4 },
    ...{ first: START, last: START + 50, classes: { car: 3 } },
  };
  expect(pictures.told()).toEqual([{ event: 'camera_event', ...event }]);
  expect(await pictures.webhooks()).toEqual([event]);
});

test('an event is over when no picture comes for the gap, once, over a restart', async () => {
  await using pictures = await gate();
  await pictures.record([0], () => boxes(1));
  await pictures.check(START + GAP_S);
  expect(pictures.told()).toEqual([]);
  await pictures.reopen();
  await pictures.check(START + 3 * GAP_S);
  await pictures.check(START + 4 * GAP_S);
  expect(pictures.told()).toMatchObject([{ images: 1, first: START, last: START }]);
});

test('a picture that comes late is of the event that goes on, and of none that is over', async () => {
  await using pictures = await gate();
  await pictures.record([100, 140], () => boxes(1));
  await pictures.record([90], () => boxes(2));
  await pictures.record([10], () => boxes(3));
  await pictures.check(START + 5_000);
  expect(pictures.told()).toMatchObject([
    { images: 3, first: START + 90, last: START + 140, classes: { car: 2 } },
  ]);
});

test('events without a vehicle say nothing, nor do vehicles in a dismissed place', async () => {
  await using pictures = await gate();
  await pictures.record([0, 10], () => []);
  const [car] = boxes(1);
  const place = {
    folder: 'in',
    named: null,
    group: 'vehicle',
    class: 'car',
    box: car!.box,
    ...IMAGE,
  };
  await pictures.store.dismissPlace('', place, START);
  await pictures.record([500], () => boxes(1));
  await pictures.check(START + 5_000);
  expect(pictures.told()).toEqual([]);
  await pictures.record([6_000], () => boxes(2));
  await pictures.check(START + 9_000);
  expect(pictures.told()).toMatchObject([{ classes: { car: 1 } }]);
});

test('a watch without a gap tells no events', async () => {
  await using pictures = await gate(null);
  await pictures.record([0], () => boxes(1));
  await pictures.check(START + 5_000);
  expect(pictures.told()).toEqual([]);
});
