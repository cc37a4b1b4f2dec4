/** A job with its outcomes, written into the data folder of a service that is not running. */
import { NO_LABELS, type JobLabels } from '../../src/api/job-labels.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import type { ImageOutcome, JobSpec } from '../../src/store/job.js';
import { openStore } from '../../src/store/service-store.js';
import { specOf } from '../jobs/job-folder.js';

const GROUP = 100;

export interface SeededImage {
  path: string;
  outcome: ImageOutcome;
}

export interface SeedHow extends Partial<Pick<JobSpec, 'metadata' | 'typed'>> {
  labels?: Partial<JobLabels>;
  modelName?: string;
  /** Seconds before now; a minute where it is not given. */
  submittedAgo?: number;
  /** It is cancelled after so many images. */
  cancelledAfter?: number;
}

export async function seedJob(
  dataDir: string,
  jobId: string,
  images: readonly SeededImage[],
  how: SeedHow = {},
): Promise<void> {
  const { labels, modelName = 'yolov8n.pt', submittedAgo = 60, cancelledAfter, ...more } = how;
  const store = await openStore(dataDir);
  const submittedAt = Date.now() / 1_000 - submittedAgo;
  const spec = specOf({
    jobType: 'batch_detect',
    imagePaths: images.map(({ path }) => path),
    options: { ...DEFAULT_PARAMETERS, modelName, confidence: 0.25, classes: null },
    labels: { ...NO_LABELS, ...labels },
    ...more,
  });
  const submitted = await store.submit({
    ...{ jobId, spec, submittedAt, idempotency: null, admit: true },
  });
  const { number } = submitted!.job;
  const started = await store.start(number, 'local-0', submittedAt + 1);
  const processed = images.slice(0, cancelledAfter);
  for (let from = 0; from < processed.length; from += GROUP) {
    const outcomes = processed.slice(from, from + GROUP).map(({ outcome }, at) => {
      const text = JSON.stringify(outcome);
      return { index: from + at, ok: outcome.status === 'ok', outcome: text };
    });
    await store.record(number, started?.fencingToken ?? 0, outcomes, 'local-0', submittedAt + 11);
  }
  if (cancelledAfter !== undefined) await store.cancel(jobId, null, submittedAt + 12);
  await store.close();
}
