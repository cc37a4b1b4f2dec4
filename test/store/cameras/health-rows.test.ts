/** The health of cameras in the store, from the outcome of a picture to what is told. */
import { expect, test } from 'vitest';
import { DAY, halfHours, HOUR, LEARNT, RecordedCameras } from './recorded-cameras.js';
import { START } from './watched-pictures.js';

test('a covered camera is one finding, with its picture, one event and one webhook', async () => {
  await using cameras = await RecordedCameras.opened();
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
  await using cameras = await RecordedCameras.opened();
  const times = halfHours(START, START + LEARNT);
  await cameras.recordAt(times.slice(0, 60).reverse());
  await cameras.recordAt(times.slice(60));
  const now = START + 6 * DAY;
  await cameras.store.checkCameras(now, []);
  await cameras.reopen();
  await cameras.check(now);
  const from = START + LEARNT;
  await cameras.recordAt(halfHours(from, from + 3 * HOUR), 'black');
  await cameras.reopen();
  await cameras.check(now);
  await cameras.check(now);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: ['covered'], closed: [] }]);
  expect(cameras.told()).toHaveLength(1);
  expect(await cameras.webhooks()).toHaveLength(1);
});

test('a picture waits for earlier ones of its camera', async () => {
  await using cameras = await RecordedCameras.opened();
  await cameras.recordAt([START + HOUR]);
  await cameras.check(START + HOUR + 2);
  expect(await cameras.kinds()).toEqual([]);
  await cameras.check(START + HOUR + 7);
  expect(await cameras.kinds()).toHaveLength(1);
});

test('a camera is late by its own past, while the watch works', async () => {
  await using cameras = await RecordedCameras.opened();
  const end = START + 2 * DAY + 12 * HOUR;
  await cameras.recordAt(halfHours(START, end));
  await cameras.check(end + HOUR, START);
  await cameras.check(end + DAY);
  await cameras.check(end + DAY, end + DAY - HOUR);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: [] }]);
  await cameras.check(end + DAY, START);
  await cameras.check(end + 2 * DAY, START);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: ['late'], closed: [] }]);
  await cameras.recordAt([end + 2 * DAY]);
  await cameras.check(end + 3 * DAY);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['late'] }]);
  expect(cameras.told().map(({ change }) => change)).toEqual(['opened', 'closed']);
});

test('a silenced finding closes without a word', async () => {
  await using cameras = await RecordedCameras.opened();
  const until = await cameras.cover();
  const change = (
    ...parts: [kind: 'covered' | 'moved', action: 'dismiss' | { silencedUntil: number }]
  ) => cameras.store.changeFinding(cameras.watch, 'in', ...parts, until);
  expect(await change('moved', 'dismiss')).toBe(false);
  expect(await change('covered', { silencedUntil: until + DAY })).toBe(true);
  const [camera] = await cameras.store.cameras(cameras.watch);
  expect(camera?.open).toMatchObject([{ silencedUntil: until + DAY }]);
  await cameras.recordAt(halfHours(until, until + 3 * HOUR));
  await cameras.check(until + 4 * HOUR);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['covered'] }]);
  expect(cameras.told()).toHaveLength(1);
});

test('a finding that is dismissed ends, and the camera has another usual picture', async () => {
  await using cameras = await RecordedCameras.opened();
  const until = await cameras.cover();
  await cameras.store.changeFinding(cameras.watch, 'in', 'covered', 'dismiss', until);
  expect(await cameras.kinds()).toEqual([{ camera: 'in', open: [], closed: ['covered'] }]);
  await cameras.recordAt(halfHours(until, until + 3 * HOUR), 'black');
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
  await using cameras = await RecordedCameras.opened();
  for (let camera = 0; camera < 1_002; camera += 1) {
    await cameras.recordAt([START + camera], null, `in/${camera}`);
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
  await using cameras = await RecordedCameras.opened();
  const ahead = START + 400 * DAY;
  await cameras.recordAt([ahead, START + HOUR]);
  await cameras.check(ahead + DAY);
  const [camera] = await cameras.store.cameras(cameras.watch);
  expect(camera?.last).toBe(ahead);
});
