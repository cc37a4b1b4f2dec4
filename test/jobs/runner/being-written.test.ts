import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fileLooks } from '../../../src/files/file-looks.js';
import type { ImageOutcome } from '../../../src/store/job.js';
import { until } from '../../support/eventually.js';
import { END, FileDetector } from '../../support/file-detector.js';
import { ended, openTestJobs, specOf, TemporaryFolder } from '../job-folder.js';

const WHOLE = `whole ${END}`;

async function open() {
  const folder = new TemporaryFolder();
  const data = new TemporaryFolder();
  const root = join(folder.path, 'images');
  mkdirSync(root);
  const detector = new FileDetector(root);
  // One image at a time: one that held the place would stop the others.
  detector.window = 1;
  const reuse = { environment: '', look: fileLooks([root]) };
  const jobs = await openTestJobs(data, { reuse, imageRoots: [root] }, detector);
  return {
    detector,
    service: jobs.service,
    path: (name: string) => join(root, name),
    write: (name: string, text: string) => {
      writeFileSync(join(root, name), text);
    },
    submit: async (...imagePaths: string[]) =>
      (await jobs.service.submit(specOf({ imagePaths }))).job.jobId,
    outcomes: async (jobId: string): Promise<(ImageOutcome | null)[]> => {
      await ended(jobs.service, jobId);
      return (await jobs.service.images(jobId)).map(({ outcome }) => outcome);
    },
    async [Symbol.asyncDispose]() {
      await jobs[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
      data[Symbol.dispose]();
    },
  };
}

/** Bytes that a result is of, by its one box. */
function bytesOf(outcome: ImageOutcome | null | undefined): number | undefined {
  return outcome?.status === 'ok' ? outcome.detections[0]?.box[3] : undefined;
}

test('a file that is written slowly gives its result when it is whole, and delays no other image', async () => {
  await using set = await open();
  set.write('slow.jpg', 'part');
  set.write('a.jpg', WHOLE);
  set.write('b.jpg', WHOLE);
  const jobId = await set.submit('slow.jpg', 'a.jpg', 'b.jpg');
  const since = performance.now();
  while (performance.now() - since < 3_000) {
    await sleep(50);
    appendFileSync(set.path('slow.jpg'), '.');
  }
  const { finishedImages, status } = await set.service.get(jobId, null);
  expect({ finishedImages, status }).toEqual({ finishedImages: 2, status: 'running' });
  appendFileSync(set.path('slow.jpg'), END);
  const [slow] = await set.outcomes(jobId);
  expect(bytesOf(slow)).toBeGreaterThan('part'.length + 30);
});

test('a file that is replaced by a rename, and one that is cut and completed, give the results of the whole', async () => {
  await using set = await open();
  set.write('replaced.jpg', 'part');
  set.write('cut.jpg', '');
  const jobId = await set.submit('replaced.jpg', 'cut.jpg');
  await sleep(500);
  set.write('.new', WHOLE);
  renameSync(set.path('.new'), set.path('replaced.jpg'));
  set.write('cut.jpg', WHOLE);
  expect((await set.outcomes(jobId)).map(bytesOf)).toEqual([WHOLE.length, WHOLE.length]);
});

test('a recently modified file that stays as it is fails after two more looks', async () => {
  await using set = await open();
  set.write('damaged.jpg', 'part');
  const since = performance.now();
  const [outcome] = await set.outcomes(await set.submit('damaged.jpg'));
  expect(outcome).toMatchObject({ status: 'error', error: { code: 'invalid_image' } });
  expect(performance.now() - since).toBeGreaterThan(2_900);
  expect(set.detector.paths).toHaveLength(3);
});

test('files that stay parts after their volume was away do not stop their job', async () => {
  await using set = await open();
  const names = Array.from({ length: 200 }, (_, index) => `${index}.jpg`);
  for (const name of names) set.write(name, 'part');
  let isAway = true;
  set.detector.answer = () => (isAway ? 'volume_unavailable' : 'ok');
  set.detector.window = 8;
  const jobId = await set.submit(...names);
  await until(() => new Set(set.detector.paths).size >= 64, 'as many set aside as a job may have');
  isAway = false;
  const codes = (await set.outcomes(jobId)).map((outcome) =>
    outcome?.status === 'error' ? outcome.error.code : null,
  );
  expect(codes).toEqual(names.map(() => 'invalid_image'));
});

test('an old file fails at once, unless it has changed since it was read', async () => {
  await using set = await open();
  set.detector.clockAheadS = 3_600;
  set.write('damaged.jpg', 'part');
  await set.outcomes(await set.submit('damaged.jpg'));
  expect(set.detector.paths).toHaveLength(1);
  set.write('late.jpg', 'part');
  set.detector.onRead = () => {
    set.write('late.jpg', WHOLE);
  };
  const [late] = await set.outcomes(await set.submit('late.jpg'));
  expect(bytesOf(late)).toBe(WHOLE.length);
});

test('the end of the job ends the wait', async () => {
  await using set = await open();
  set.write('damaged.jpg', 'part');
  const jobId = await set.submit('damaged.jpg');
  await sleep(300);
  await set.service.cancel(jobId, null);
  await sleep(1_500);
  expect(set.detector.paths).toHaveLength(1);
});
