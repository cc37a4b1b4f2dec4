/** Counts by folder and hour of a store that an earlier release wrote: they are those that this one writes. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { NO_LABELS } from '../../../src/api/job-labels.js';
import type { PictureTime } from '../../../src/files/wall-time.js';
import type { ImageOutcome } from '../../../src/store/job.js';
import { SCHEMA_VERSION } from '../../../src/store/schema.js';
import { openStore } from '../../../src/store/service-store.js';
import { specOf, TemporaryFolder } from '../../jobs/job-folder.js';
import { errorOutcome, okOutcome } from '../../support/outcomes.js';

/** Takes back what the migration adds, with the times that it works out. */
const WITHOUT_COUNTS = `
  UPDATE image_facts SET taken = NULL, taken_from = NULL WHERE taken_from <> 'exif';
  DROP INDEX jobs_by_retry;
  DROP INDEX failed_images;
  DROP TABLE job_counts;
  DROP TABLE scope_counts;
  ALTER TABLE image_boxes DROP COLUMN counted;
  ALTER TABLE image_boxes DROP COLUMN descriptors;
  ALTER TABLE swept_jobs DROP COLUMN owner;
  ALTER TABLE swept_jobs DROP COLUMN watch;
  ALTER TABLE swept_jobs DROP COLUMN tags;
  ALTER TABLE swept_jobs DROP COLUMN kept;
  DROP TABLE dismissed_places;
  DROP TABLE camera_pictures;
  DROP TABLE camera_health;
  DROP TABLE camera_places;
  DROP TABLE camera_events;
  ALTER TABLE outbox DROP COLUMN news;
  ALTER TABLE webhook_deliveries DROP COLUMN news;
  PRAGMA user_version = ${SCHEMA_VERSION - 7};`;

/** In the time zone of this machine. */
const modifiedNs = String(BigInt(new Date(2025, 10, 26, 14, 30).getTime()) * 1_000_000n);
const file = { modifiedNs } as NonNullable<Extract<ImageOutcome, { status: 'ok' }>['file']>;
const inRegions = (outcome: ImageOutcome): ImageOutcome => ({
  ...outcome,
  ...{ regionCounts: { left: { car: 2 }, right: {} } },
});
const at = (time: string): PictureTime => ({ time, source: 'exif' });

const IMAGES: [path: string, outcome: ImageOutcome, taken?: PictureTime][] = [
  ['gate/a.jpg', inRegions(okOutcome(['car', 'car', 'bus'])), at('2025-11-26T14:10:00')],
  ['gate/b.jpg', inRegions(okOutcome([])), at('2025-11-26T14:50:00')],
  ['gate/20251126_153000.jpg', okOutcome(['truck'])],
  ['gate/c.jpg', { ...okOutcome(['car']), file }],
  ['north/d.jpg', errorOutcome('invalid_image')],
  ['north/e.jpg', okOutcome(['car'])],
];

/** Rows by job, and by watch and tags. */
function rowsOf(folder: string): unknown[][] {
  const database = new DatabaseSync(join(folder, 'jobs.db'));
  const tables = [
    'SELECT number / 1048576 AS job, folder, hour, sum FROM job_counts ORDER BY 1, 2, 3',
    'SELECT tags, folder, hour, sum, removed FROM scope_counts ORDER BY 1, 2, 3',
  ].map((sql) => database.prepare(sql).all() as { sum: string }[]);
  database.close();
  return tables.map((rows) =>
    rows.map(({ sum, ...row }) => ({ ...row, sum: JSON.parse(sum) as unknown })),
  );
}

test('jobs of a release without counts by hour get those that they would have', async () => {
  using folder = new TemporaryFolder();
  const store = await openStore(folder.path);
  for (const jobId of ['job_1', 'job_2']) {
    const imagePaths = [...IMAGES.map(([path]) => path), 'waits.jpg'];
    const spec = specOf({ imagePaths, labels: { ...NO_LABELS, tags: ['Gate'] } });
    const submission = { jobId, submittedAt: 1, idempotency: null, admit: true };
    const { job } = (await store.submit({ ...submission, spec }))!;
    const { fencingToken } = (await store.start(job.number, 'w', 2))!;
    const outcomes = IMAGES.map(([, outcome, taken], index) => ({
      ...{ index, ok: outcome.status === 'ok', outcome: JSON.stringify(outcome) },
      ...{ taken: taken ?? null },
    }));
    // In two batches, so that rows are added to.
    await store.record(job.number, fencingToken, outcomes.slice(0, 1), 'w', 3);
    await store.record(job.number, fencingToken, outcomes.slice(1), 'w', 4);
  }
  await store.close();
  const written = rowsOf(folder.path);
  expect(written.map(({ length }) => length)).toEqual([2 * 3, 3]);
  expect(written[0]?.[0]).toEqual({
    ...{ job: 1, folder: 'gate', hour: '2025-11-26T14' },
    sum: {
      ...{ images: 3, failed: 0, empty: 1, classes: { bus: 1, car: 3 } },
      ...{ regions: { left: { car: 4 }, right: {} }, sources: { exif: 2, file: 1 } },
    },
  });
  const database = new DatabaseSync(join(folder.path, 'jobs.db'));
  database.exec(WITHOUT_COUNTS);
  database.close();
  await (await openStore(folder.path)).close();
  expect(rowsOf(folder.path)).toEqual(written);
});
