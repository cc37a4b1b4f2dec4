/** Two jobs over the same images compared over HTTP, on a real store. */
import { expect, test } from 'vitest';
import type { Detection } from '../../../../src/api/schemas/image.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import type { JobChangesBody } from '../../../../src/http/routes/jobs/changes.js';
import { compose, get, ROOT, submitted, type Harness } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

const box = (name: string, x: number, confidence = 0.8): Detection => ({
  class: name,
  confidence,
  box: [x, 0, x + 100, 100],
});
const found = (...detections: Detection[]): ImageOutcome =>
  ({ ...okOutcome([]), detections }) as ImageOutcome;

interface Given {
  paths: string[];
  outcomes: ImageOutcome[];
}

/** A job of which as many images as there are outcomes have ended. */
async function run(app: Harness, { paths, outcomes }: Given): Promise<string> {
  const jobId = await submitted(app, { image_paths: paths });
  if (outcomes.length === paths.length) await app.jobs.finish(jobId, outcomes);
  else await app.jobs.progress(jobId, outcomes.length, outcomes);
  return jobId;
}

async function changesOf(
  app: Harness,
  jobId: string,
  other: string,
  more = '',
): Promise<JobChangesBody> {
  const { status, body } = await get(app, `/v1/jobs/${jobId}/changes?with=${other}${more}`);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body as JobChangesBody;
}

const counts = (gained: number, lost: number, changed: number, same: number) => ({
  ...{ gained, lost, changed, same },
});
const imageCounts = (changes: Partial<JobChangesBody['image_counts']>) => ({
  ...{ compared: 0, failed: 0, pending: 0, not_run: 0, only_here: 0, only_there: 0, unread: 0 },
  ...changes,
});

test('images with changes come with their boxes, most changes first; all are counted', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const first = await run(app, {
    paths: ['same.jpg', 'lost.jpg', `${ROOT}/gate/many.jpg`, 'empty.jpg', 'broken.jpg', 'old.jpg'],
    outcomes: [
      found(box('car', 0)),
      found(box('bus', 0)),
      found(box('car', 0), box('car', 300, 0.9), box('bus', 600)),
      found(),
      errorOutcome('invalid_image'),
      found(box('car', 0)),
    ],
  });
  // In another order, and one path as it is beneath the folder.
  const second = await run(app, {
    paths: ['broken.jpg', 'gate/many.jpg', 'lost.jpg', 'same.jpg', 'empty.jpg', 'new.jpg', 'x.jpg'],
    outcomes: [
      found(box('car', 0)),
      found(box('truck', 0), box('car', 300, 0.7), box('bus', 600), box('bus', 900)),
      found(),
      found(box('car', 0)),
      found(),
      found(box('car', 0)),
      found(),
    ],
  });
  expect(await changesOf(app, first, second)).toEqual({
    ...{ job_id: first, status: 'completed', complete: true },
    with: { job_id: second, status: 'completed' },
    image_counts: imageCounts({ compared: 4, failed: 1, only_here: 1, only_there: 2 }),
    box_counts: counts(1, 1, 2, 2),
    classes: [
      { class: 'car', ...counts(0, 0, 2, 1) },
      { class: 'bus', ...counts(1, 1, 0, 1) },
    ],
    images: [
      {
        ...{ index: 2, with_index: 1, image_path: 'gate/many.jpg' },
        image: { width: 640, height: 480 },
        ...counts(1, 0, 2, 1),
        boxes: [
          { change: 'changed', before: box('car', 0), after: box('truck', 0) },
          { change: 'changed', before: box('car', 300, 0.9), after: box('car', 300, 0.7) },
          { change: 'gained', after: box('bus', 900) },
        ],
      },
      {
        ...{ index: 1, with_index: 2, image_path: 'lost.jpg' },
        image: { width: 640, height: 480 },
        ...counts(0, 1, 0, 0),
        boxes: [{ change: 'lost', before: box('bus', 0) }],
      },
    ],
    ...{ matching: 2, next_offset: null },
  });
  const back = await changesOf(app, second, first);
  expect(back.box_counts).toEqual(counts(1, 1, 2, 2));
  expect(back.image_counts).toEqual(
    imageCounts({ compared: 4, failed: 1, only_here: 2, only_there: 1 }),
  );
  expect(back.images.map((each) => [each.image_path, each.gained, each.lost])).toEqual([
    ['gate/many.jpg', 0, 1],
    ['lost.jpg', 1, 0],
  ]);
});

test("the confidence that counts as a change is the caller's", async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const one = (confidence: number) => ({
    paths: ['a.jpg'],
    outcomes: [found(box('car', 0, confidence))],
  });
  const [first, second] = [await run(app, one(0.8)), await run(app, one(0.7))];
  const changed = async (more: string) => {
    const { box_counts } = await changesOf(app, first, second, more);
    return box_counts.changed;
  };
  expect(await changed('')).toBe(1);
  expect(await changed('&confidence_change=0.2')).toBe(0);
  expect(await changed('&confidence_change=0.09')).toBe(1);
});

test('while a job runs there is what both have; one that was cancelled has images that were not run', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const paths = ['a.jpg', 'b.jpg', 'c.jpg'];
  const first = await run(app, { paths, outcomes: paths.map(() => found(box('car', 0))) });
  const second = await run(app, { paths, outcomes: [found()] });
  const running = await changesOf(app, first, second);
  expect(running).toMatchObject({
    ...{ complete: false, status: 'completed', with: { status: 'running' } },
    image_counts: imageCounts({ compared: 1, pending: 2 }),
    box_counts: counts(0, 1, 0, 0),
    images: [{ image_path: 'a.jpg' }],
  });
  expect(await changesOf(app, second, first)).toMatchObject({
    complete: false,
    image_counts: imageCounts({ compared: 1, pending: 2 }),
  });
  await jobs.service.cancel(second, null);
  expect(await changesOf(app, first, second)).toMatchObject({
    ...{ complete: true, with: { status: 'failed' } },
    image_counts: imageCounts({ compared: 1, not_run: 2 }),
  });
});

test('jobs without a common image have an empty list, and counts', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const first = await run(app, { paths: ['a.jpg', 'b.jpg'], outcomes: [found(), found()] });
  const second = await run(app, { paths: ['c.jpg'], outcomes: [found(box('car', 0))] });
  expect(await changesOf(app, first, second)).toMatchObject({
    complete: true,
    image_counts: imageCounts({ only_here: 2, only_there: 1 }),
    box_counts: counts(0, 0, 0, 0),
    ...{ classes: [], images: [], matching: 0, next_offset: null },
  });
});

test('an image that a job has twice has two partners', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const first = await run(app, {
    paths: ['a.jpg', 'a.jpg', 'a.jpg'],
    outcomes: [found(box('car', 0)), found(box('car', 0)), found()],
  });
  const second = await run(app, {
    paths: ['b.jpg', 'a.jpg', 'a.jpg'],
    outcomes: [found(), found(box('car', 0)), found()],
  });
  expect(await changesOf(app, first, second)).toMatchObject({
    image_counts: imageCounts({ compared: 2, only_here: 1, only_there: 1 }),
    images: [{ index: 1, with_index: 2, lost: 1 }],
  });
});

test('thousands of images: every change is on one page, also where the orders are opposite', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const IMAGES = 2_300;
  const paths = Array.from({ length: IMAGES }, (_, index) => `${index}.jpg`);
  const many = (gained: number) =>
    found(...Array.from({ length: 1 + gained }, (_, at) => box('car', 200 * at)));
  // Image n gains n % 4 boxes; of every tenth there are no boxes at all.
  const outcomes = (gains: (index: number) => number) =>
    paths.map((_, index) => (index % 10 === 9 ? found() : many(gains(index))));
  const first = await run(app, { paths, outcomes: outcomes(() => 0) });
  const second = await run(app, {
    paths: paths.toReversed(),
    outcomes: outcomes((index) => index % 4).toReversed(),
  });
  const gains = paths.map((_, index) => (index % 10 === 9 ? 0 : index % 4));
  const wanted = paths
    .map((path, index) => [path, gains[index] ?? 0] as const)
    .filter(([, gained]) => gained > 0)
    .sort(([, a], [, b]) => b - a);
  const seen: (readonly [string, number])[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: JobChangesBody = await changesOf(app, first, second, `&limit=100&offset=${offset}`);
    expect(page).toMatchObject({ complete: true, matching: wanted.length });
    expect(page.image_counts).toEqual(imageCounts({ compared: IMAGES }));
    expect(page.images.length).toBeLessThanOrEqual(100);
    seen.push(...page.images.map(({ image_path, gained }) => [image_path, gained] as const));
    offset = page.next_offset;
  }
  expect(seen).toEqual(wanted);
});

test('a page of many boxes ends early and says where the next begins', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const paths = Array.from({ length: 10 }, (_, index) => `${index}.jpg`);
  const crowd = found(...Array.from({ length: 300 }, (_, at) => box('car', 200 * at)));
  const first = await run(app, { paths, outcomes: paths.map(() => found()) });
  const second = await run(app, { paths, outcomes: paths.map(() => crowd) });
  const page = await changesOf(app, first, second);
  expect([page.images.length, page.next_offset, page.matching]).toEqual([4, 4, 10]);
  const next = await changesOf(app, first, second, '&offset=8');
  expect([next.images.length, next.next_offset]).toEqual([2, null]);
  const none = await changesOf(app, first, second, '&offset=10');
  expect([none.images, none.next_offset]).toEqual([[], null]);
});

test('refusals: unknown jobs, each named, and values that do not exist', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const jobId = await submitted(app);
  const unknown = await get(app, `/v1/jobs/${jobId}/changes?with=job_none`);
  expect(unknown).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  expect(unknown.body.detail).toContain("'with'");
  const path = await get(app, `/v1/jobs/job_none/changes?with=${jobId}`);
  expect(path).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  expect(path.body.detail).not.toContain("'with'");
  const good = `with=${jobId}`;
  for (const query of [
    ...['', 'with=', 'with=a/b', `${good}&${good}`, `${good}&by=image`],
    ...[`${good}&confidence_change=2`, `${good}&limit=0`, `${good}&offset=-1`],
  ]) {
    const { status, body } = await get(app, `/v1/jobs/${jobId}/changes?${query}`);
    expect([query, status, body]).toMatchObject([query, 422, { code: 'validation_failed' }]);
  }
});
