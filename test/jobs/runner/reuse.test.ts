import { copyFileSync, mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fileLooks } from '../../../src/files/file-looks.js';
import type { JobsOptions } from '../../../src/jobs/jobs.js';
import type { JobSpec } from '../../../src/store/job.js';
import { END, FileDetector } from '../../support/file-detector.js';
import { ended, openTestJobs, specOf, TemporaryFolder } from '../job-folder.js';
import { until } from '../../support/eventually.js';

/** So long ago that its times can be relied on; the time of change cannot be set, so the clock of the reader is. */
const AHEAD_S = 60;

type Reopened = Partial<JobsOptions> & { environment?: string };

async function open(names: string[], more: { environment?: string } = {}) {
  const folder = new TemporaryFolder();
  const root = join(folder.path, 'images');
  const data = new TemporaryFolder();
  mkdirSync(root);
  for (const name of names) writeFileSync(join(root, name), `${name} ${END}`);
  const detector = new FileDetector(root);
  detector.clockAheadS = AHEAD_S;
  const onReused = vi.fn<(images: number) => void>();
  const { environment = '["1.0.0"]' } = more;
  const reuse = { environment, look: fileLooks([root]) };
  let jobs = await openTestJobs(
    data,
    { reuse, onReused, imageRoots: [root], scoreFloor: 0.05 },
    detector,
  );
  return {
    root,
    detector,
    onReused,
    get service() {
      return jobs.service;
    },
    get views() {
      return jobs.views;
    },
    async reopen({ environment: other = environment, ...changes }: Reopened = {}) {
      jobs = await jobs.reopen({ ...changes, detector, reuse: { ...reuse, environment: other } });
    },
    /** The paths that ran, the job and its images. */
    async run(changes: Partial<JobSpec> = {}) {
      detector.requests.length = 0;
      const spec = specOf({ imagePaths: names, reuse: 'unchanged', ...changes });
      const { job } = await jobs.service.submit(spec);
      const end = await ended(jobs.service, job.jobId);
      const images = await jobs.service.images(job.jobId);
      return { ran: [...detector.paths].sort(), job: end, images };
    },
    async [Symbol.asyncDispose]() {
      await jobs[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
      data[Symbol.dispose]();
    },
  };
}

const NAMES = Array.from({ length: 150 }, (_, index) => `${String(index).padStart(3, '0')}.jpg`);

test('a second job of unchanged files runs nothing and says where each result is from', async () => {
  await using set = await open(NAMES);
  const first = await set.run({ reuse: 'off' });
  expect(first.ran).toEqual(NAMES);
  expect(first.job).toMatchObject({ status: 'completed', reusedImages: 0 });
  const second = await set.run();
  expect(second.ran).toEqual([]);
  expect(second.job).toMatchObject({
    status: 'completed',
    finishedImages: NAMES.length,
    failedImages: 0,
    reusedImages: NAMES.length,
    workerId: 'fake-1',
  });
  for (const [index, { outcome }] of second.images.entries()) {
    const reusedFrom = { jobId: first.job.jobId, index };
    expect(outcome).toEqual({ ...first.images[index]?.outcome, reusedFrom });
  }
  expect(set.onReused.mock.calls.reduce((sum, [images]) => sum + images, 0)).toBe(NAMES.length);
  // The result names the image that ran, also where it was taken over before.
  const third = await set.run();
  expect(third.ran).toEqual([]);
  expect(third.images.map(({ outcome }) => outcome)).toEqual(
    second.images.map(({ outcome }) => outcome),
  );
});

test('exactly the images whose files changed run again', async () => {
  await using set = await open(NAMES);
  await set.run();
  const path = (name: string) => join(set.root, name);
  await sleep(20);
  // One byte, with the time of modification set back.
  const { atime, mtime } = statSync(path('003.jpg'));
  writeFileSync(path('003.jpg'), `oo3.jpg ${END}`);
  utimesSync(path('003.jpg'), atime, mtime);
  // Another file of the same bytes in its place.
  copyFileSync(path('010.jpg'), path('new'));
  renameSync(path('new'), path('010.jpg'));
  writeFileSync(path('077.jpg'), `longer 077.jpg ${END}`);
  const { ran, images, job } = await set.run();
  expect(ran).toEqual(['003.jpg', '010.jpg', '077.jpg']);
  expect(job.reusedImages).toBe(NAMES.length - 3);
  const found = images[77]?.outcome;
  expect(found?.status === 'ok' && found.detections[0]?.box[3]).toBe(
    `longer 077.jpg ${END}`.length,
  );
});

test('another model, precision, option of the run, owner or release runs all again, the same ones none', async () => {
  const few = NAMES.slice(0, 3);
  await using set = await open(few);
  const { options } = specOf();
  const runs = async (changes: Partial<JobSpec> = {}) => {
    // The second time shows that it was this and nothing else.
    const { ran } = await set.run(changes);
    expect((await set.run(changes)).ran).toEqual([]);
    return ran;
  };
  expect(await runs()).toEqual(few);
  expect(await runs({ options: { ...options, iou: 0.5 } })).toEqual(few);
  expect(await runs({ options: { ...options, tiles: 'auto' } })).toEqual(few);
  expect(await runs({ options: { ...options, confidence: 0.01 } })).toEqual(few);
  expect(await runs({ keyId: 'key-1' })).toEqual(few);
  set.detector.digest = '0000000000000002';
  expect(await runs()).toEqual(few);
  set.detector.precision = 'int8';
  expect(await runs()).toEqual(few);
  await set.reopen({ environment: '["1.0.1"]' });
  expect(await runs()).toEqual(few);
  // Neither the mode off nor a priority depends on it.
  expect((await set.run({ reuse: 'off' })).ran).toEqual(few);
  expect((await set.run({ priority: 7 })).ran).toEqual([]);
});

test('another question is asked of the stored boxes: what comes of it is as if the images had run', async () => {
  await using set = await open(['a.jpg']);
  const { options } = specOf();
  await set.run();
  const polygon = [[0, 0], [0.5, 0], [0.5, 1], [0, 1]] as const; // prettier-ignore
  await set.views.put('all', { paths: ['**'], regions: [{ name: 'gate', polygon }] }, null);
  const asked = { options: { ...options, confidence: 0.3, classes: null } };
  const taken = await set.run(asked);
  expect(taken.ran).toEqual([]);
  expect(taken.images[0]?.outcome).toMatchObject({
    detections: [
      { class: 'car', regions: ['gate'] },
      { class: 'bus', confidence: 0.4 },
    ],
    regionCounts: { gate: { car: 1 } },
    view: { name: 'all', version: 1 },
  });
  const { ran, images } = await set.run({ ...asked, reuse: 'off' });
  expect(ran).toEqual(['a.jpg']);
  const [one, other] = [taken, { images }].map(({ images: [image] }) => ({
    ...image?.outcome,
    file: undefined,
    reusedFrom: undefined,
  }));
  expect(one).toEqual(other);
});

test('a result is not taken over where it failed, is drawn or described, or was removed', async () => {
  await using set = await open(['a.jpg', 'b.jpg']);
  set.detector.answer = ({ path }) => (path === 'b.jpg' ? 'invalid_image' : 'ok');
  await set.run();
  set.detector.answer = () => 'ok';
  expect((await set.run()).ran).toEqual(['b.jpg']);
  expect((await set.run({ annotate: true })).ran).toEqual(['a.jpg', 'b.jpg']);
  expect((await set.run({ places: true })).ran).toEqual(['a.jpg', 'b.jpg']);
  const { job } = await set.run();
  expect(job.reusedImages).toBe(2);
  await set.reopen({ resultTtlHours: 1e-9, retentionIntervalMs: 10 });
  await until(async () => {
    const { jobs } = await set.service.list({}, { limit: 9, cursor: null });
    return jobs.length === 0;
  }, 'removal');
  await set.reopen({ resultTtlHours: 24, retentionIntervalMs: 60_000 });
  expect((await set.run()).ran).toEqual(['a.jpg', 'b.jpg']);
});

test('a file that was changed moments before it was read is read again', async () => {
  await using set = await open(['a.jpg']);
  // The reader's clock is behind that of the file system.
  set.detector.clockAheadS = -AHEAD_S;
  await set.run();
  expect((await set.run()).ran).toEqual(['a.jpg']);
  set.detector.clockAheadS = AHEAD_S;
  expect((await set.run()).ran).toEqual(['a.jpg']);
  expect((await set.run()).ran).toEqual([]);
});

test('by content the same bytes are enough, whatever their file', async () => {
  await using set = await open(['a.jpg', 'b.jpg']);
  const content = { reuse: 'content' as const };
  expect((await set.run(content)).ran).toEqual(['a.jpg', 'b.jpg']);
  copyFileSync(join(set.root, 'a.jpg'), join(set.root, 'c.jpg'));
  writeFileSync(join(set.root, 'b.jpg'), `B.jpg ${END}`);
  const { ran, images } = await set.run({ ...content, imagePaths: ['a.jpg', 'b.jpg', 'c.jpg'] });
  expect(ran).toEqual(['b.jpg']);
  expect(images[2]?.outcome).toMatchObject({ reusedFrom: { index: 0 } });
  // A job that wants unchanged files does not know the copy.
  expect((await set.run({ imagePaths: ['c.jpg'] })).ran).toEqual([]);
});

test('where nothing can be said of the files or the model, the images run', async () => {
  await using set = await open(['a.jpg']);
  await set.run();
  vi.spyOn(set.detector, 'prepare').mockRejectedValue(new Error('no worker'));
  expect((await set.run()).ran).toEqual(['a.jpg']);
});
