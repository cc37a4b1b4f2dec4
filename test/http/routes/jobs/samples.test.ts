/** Samples of a job over HTTP: pictures with the least certain box first. */
import { expect, test } from 'vitest';
import type { JobImagesBody } from '../../../../src/http/routes/jobs/images.js';
import type { SamplesBody } from '../../../../src/http/routes/jobs/samples.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import { compose, get, submitted } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

/** Boxes of these classes and confidences. */
function found(boxes: Record<string, number[]>): ImageOutcome {
  const detections = Object.entries(boxes).flatMap(([name, scores]) =>
    scores.map((confidence) => ({ box: [1, 2, 30, 40] as const, confidence, class: name })),
  );
  return { ...okOutcome([]), detections } as ImageOutcome;
}

const OUTCOMES = [
  found({ car: [0.9, 0.8] }),
  found({}),
  found({ car: [0.95], bus: [0.512, 0.7] }),
  errorOutcome('invalid_image'),
  found({ truck: [0.512] }),
  found({ car: [0.5001, 0.99] }),
];
const PATHS = OUTCOMES.map((_, index) => `${index}.jpg`);

test('the smallest margin comes first, and each picture says why', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const id = await submitted(app, { image_paths: PATHS, confidence_threshold: 0.5 });
  expect((await get(app, `/v1/samples?job=${id}`)).status).toBe(409);
  await jobs.finish(id, OUTCOMES);
  const { status, body } = await get(app, `/v1/samples?job=${id}`);
  expect(status).toBe(200);
  const { samples, ...rest } = body as SamplesBody;
  expect(rest).toEqual({ job_id: id, confidence_threshold: 0.5 });
  expect(samples).toEqual([
    {
      index: 5,
      image_path: '5.jpg',
      detections: 2,
      class: 'car',
      confidence: 0.5001,
      margin: 0.0001,
      reason: 'A box of the class car has confidence 0.5001, 0.0001 above its threshold.',
    },
    {
      index: 2,
      image_path: '2.jpg',
      detections: 3,
      class: 'bus',
      confidence: 0.512,
      margin: 0.012,
      reason: 'A box of the class bus has confidence 0.512, 0.012 above its threshold.',
    },
    expect.objectContaining({ index: 4, class: 'truck', margin: 0.012 }),
    expect.objectContaining({ index: 0, class: 'car', confidence: 0.8, margin: 0.3 }),
  ]);
  const two = (await get(app, `/v1/samples?job=${id}&n=2`)).body as SamplesBody;
  expect(two.samples.map(({ index }) => index)).toEqual([5, 2]);
  const images = async (query: string) => {
    const page = await get(app, `/v1/jobs/${id}/images?sort=margin&${query}`);
    const { images: shown, ...about } = page.body as JobImagesBody;
    return { ...about, indices: shown.map(({ index }) => index) };
  };
  expect(await images('limit=2')).toEqual({ indices: [5, 2], matching: 4, next_offset: 2 });
  expect(await images('offset=2')).toEqual({ indices: [4, 0], matching: 4, next_offset: null });
  expect(await images('class=car')).toMatchObject({ indices: [5, 2, 0], matching: 3 });
  expect(await images('outcome=empty')).toMatchObject({ indices: [], matching: 0 });
  expect(await images('outcome=pending')).toMatchObject({ indices: [], matching: 0 });
});

test('the margin of a class with a threshold of its own is that to this one', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const thresholds = { Bus: 0.9, truck: 0.2 };
  const id = await submitted(app, {
    ...{ job_type: 'batch_detect', image_paths: ['a.jpg', 'b.jpg', 'c.jpg'] },
    ...{ confidence_threshold: 0.5, class_thresholds: thresholds },
  });
  await jobs.finish(id, [
    found({ car: [0.6] }),
    found({ car: [0.8], bus: [0.91] }),
    found({ car: [0.95], truck: [0.22] }),
  ]);
  const { samples } = (await get(app, `/v1/samples?job=${id}`)).body as SamplesBody;
  expect(samples.map(({ index, class: name, margin }) => [index, name, margin])).toEqual([
    [1, 'bus', 0.01],
    [2, 'truck', 0.02],
    [0, 'car', 0.1],
  ]);
  const { images } = (await get(app, `/v1/jobs/${id}/images?sort=margin&class=car`)).body;
  expect(images).toMatchObject([{ index: 1 }, { index: 2 }, { index: 0 }]);
});

test('more samples than a page of images has are answered too', async () => {
  await using jobs = await HeldJobs.open();
  const app = compose({}, {}, jobs);
  const boxes = Array.from({ length: 400 }, (_, box) => 0.6 + box / 1_000);
  const outcomes = Array.from({ length: 20 }, (_, index) =>
    found({ car: [...boxes, 0.59 - index / 1_000] }),
  );
  const id = await submitted(app, { image_paths: outcomes.map((_, index) => `${index}.jpg`) });
  await jobs.finish(id, outcomes);
  const page = (await get(app, `/v1/jobs/${id}/images?sort=margin`)).body as JobImagesBody;
  expect(page.images.length).toBeLessThan(20);
  const { samples } = (await get(app, `/v1/samples?job=${id}&n=19`)).body as SamplesBody;
  expect(samples.map(({ index }) => index)).toEqual(
    outcomes.map((_, index) => 19 - index).slice(0, 19),
  );
});

test.each([
  ['no job', '', 422],
  ['a job that is not there', '?job=job_none', 404],
  ['no samples', '?job=job_none&n=0', 422],
  ['too many samples', '?job=job_none&n=1001', 422],
  ['another field', '?job=job_none&page=2', 422],
])('%s is refused', async (_, query, status) => {
  await using jobs = await HeldJobs.open();
  expect((await get(compose({}, {}, jobs), `/v1/samples${query}`)).status).toBe(status);
});
