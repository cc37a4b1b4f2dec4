/** Places over HTTP do not depend on the order in which pictures were submitted. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PlacesBody } from '../../../src/http/routes/places.js';
import { ended, openTestJobs, TemporaryFolder } from '../../jobs/job-folder.js';
import {
  detectionsOf,
  pathOf,
  SCENES,
  sequenceOf,
  SIZE,
  type Still,
} from '../../support/camera-stills.js';
import { compose, get, post, ROOT } from '../../support/composed-app.js';
import { SeeingDetector } from '../../support/seeing-detector.js';

const [carPark] = SCENES;
const { stills } = sequenceOf({ ...carPark!, hours: 6 });
const nameOf = (still: Still) => pathOf('gate', still);
const byPath = new Map(stills.map((still) => [nameOf(still), detectionsOf(still)]));

/** The places of pictures that are submitted in these jobs, one after the other. */
async function placesOf(orders: readonly (readonly Still[])[]): Promise<PlacesBody['places']> {
  using folder = new TemporaryFolder();
  const detector = new SeeingDetector();
  detector.image = SIZE;
  detector.found = (path) => byPath.get(path) ?? [];
  await using jobs = await openTestJobs(folder, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  const app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
  for (const order of orders) {
    const body = { job_type: 'detect_vehicles', image_paths: order.map(nameOf), tags: ['gate'] };
    const accepted = await post(app, '/v1/jobs/submit', body);
    await ended(jobs.service, accepted.body.job_id as string);
  }
  const { status, body } = await get(app, '/v1/places?tag=gate');
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as PlacesBody).places.map((place) => ({
    ...place,
    // The same picture has another number in another order.
    best_image: place.best_image && { ...place.best_image, job_id: '', index: 0 },
  }));
}

test('in whatever order and jobs the pictures are submitted', async () => {
  const inOrder = await placesOf([stills]);
  expect(stills.reduce((sum, { boxes }) => sum + boxes.length, 0)).toBeGreaterThan(400);
  expect(inOrder.length).toBeGreaterThan(10);
  expect(inOrder.some(({ stays }) => stays.length > 1)).toBe(true);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(stills, { minLength: stills.length }),
      fc.integer({ min: 1, max: stills.length }),
      async (shuffled, first) => {
        const jobs = [shuffled.slice(0, first), shuffled.slice(first)];
        expect(await placesOf(jobs.filter(({ length }) => length > 0))).toEqual(inOrder);
      },
    ),
    { numRuns: 8 },
  );
});
