/** A job that is removed takes its images and its drawn copies with it, soon and without a wait for the next sweep. */
import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ended, imagesNamed, openTestJobs, specOf, TemporaryFolder } from './job-folder.js';
import { until } from '../support/eventually.js';

test('images and drawn copies go in batches, those of other jobs stay', async () => {
  using folder = new TemporaryFolder();
  let drawn = 0;
  const removed: string[] = [];
  const jobs = await openTestJobs(folder, {
    annotate: () => Promise.resolve(`copy-${(drawn += 1)}.jpg`),
    removeCopies: (names) => {
      removed.push(...names);
      return Promise.resolve();
    },
    retentionIntervalMs: 3_600_000,
  });
  const { service } = jobs;
  const annotated = (count: number) =>
    service.submit(specOf({ imagePaths: imagesNamed('p', count), annotate: true }));
  const { job: stays } = await annotated(2);
  await ended(service, stays.jobId);
  // More than one batch of the sweep.
  const { job: goes } = await annotated(1_500);
  await ended(service, goes.jobId);
  const readers = service.imagePages(goes.jobId);
  await service.remove(goes.jobId, null);
  await expect(service.get(goes.jobId, null)).rejects.toMatchObject({ code: 'job_not_found' });
  await expect(readers.next()).rejects.toMatchObject({ code: 'job_not_found' });
  await until(() => removed.length === 1_500, 'all copies are removed');
  expect(new Set(removed).size).toBe(1_500);
  const names = (await service.images(stays.jobId)).map(({ outcome }) =>
    outcome?.status === 'ok' ? outcome.annotatedPath : '',
  );
  expect(await jobs.store.copiesOfJobs([...removed.slice(0, 9), ...(names as string[])])).toEqual(
    expect.arrayContaining(names),
  );
  expect(removed).not.toEqual(expect.arrayContaining([names[0]]));
  await jobs.stop(1_000);
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  const count = (table: string) =>
    Object.values(database.prepare(`SELECT count(*) FROM ${table}`).get() as object)[0] as number;
  expect(['job_images', 'image_facts', 'drawn_copies'].map(count)).toEqual([2, 2, 2]);
  expect(['jobs', 'job_listings', 'swept_jobs'].map(count)).toEqual([1, 1, 0]);
  database.close();
});
