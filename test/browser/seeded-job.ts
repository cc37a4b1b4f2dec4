/** A job with its outcomes, written into the data folder of a service that is not running. */
import type { ImageOutcome } from '../../src/jobs/job.js';
import { openJobStore } from '../../src/jobs/store/job-store.js';
import { errorOutcome, okOutcome } from '../support/fake-jobs.js';
import { specOf } from '../jobs/job-folder.js';

const CLASSES = ['car', 'truck', 'bus', 'motorcycle'];
const GROUP = 100;

/**
 * Of ten images one has failed, one is empty, and the others have cars; every third has a bus whose confidence is 0.3.
 */
export function seededOutcome(index: number): ImageOutcome {
  if (index % 10 === 9) return errorOutcome('invalid_image');
  if (index % 10 === 8) return okOutcome([]);
  const outcome = okOutcome(CLASSES.slice(0, 1 + (index % 2)));
  if (outcome.status === 'error' || index % 3 !== 0) return outcome;
  const bus = { box: [40, 60, 300, 220] as [number, number, number, number], confidence: 0.3 };
  return { ...outcome, detections: [...outcome.detections, { ...bus, class: 'bus' }] };
}

export async function seedJob(
  dataDir: string,
  jobId: string,
  imagePaths: string[],
  metadata: string | null = null,
): Promise<void> {
  const store = await openJobStore(dataDir);
  const submittedAt = Date.now() / 1_000 - 60;
  const spec = specOf({ imagePaths, metadata, confidence: 0.25, classes: CLASSES });
  const submitted = await store.submit({
    jobId,
    spec,
    submittedAt,
    idempotency: null,
    admit: true,
  });
  if (submitted.kind !== 'stored') throw new Error(submitted.kind);
  const { number } = submitted.job;
  const started = await store.start(number, 'local-0', submittedAt + 1);
  for (let from = 0; from < imagePaths.length; from += GROUP) {
    const outcomes = imagePaths.slice(from, from + GROUP).map((_, at) => {
      const outcome = seededOutcome(from + at);
      const text = JSON.stringify(outcome);
      return { index: from + at, ok: outcome.status === 'ok', outcome: text };
    });
    await store.record(number, started?.lease ?? 0, outcomes, 'local-0', submittedAt + 11);
  }
  await store.close();
}
