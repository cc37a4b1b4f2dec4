/** A job with its outcomes, written into the data folder of a service that is not running. */
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import type { ImageOutcome } from '../../src/jobs/job.js';
import { openJobStore } from '../../src/jobs/store/job-store.js';
import { specOf } from '../jobs/job-folder.js';

const GROUP = 100;

export interface SeededImage {
  path: string;
  outcome: ImageOutcome;
}

export async function seedJob(
  dataDir: string,
  jobId: string,
  images: readonly SeededImage[],
  metadata: string | null = null,
): Promise<void> {
  const store = await openJobStore(dataDir);
  const submittedAt = Date.now() / 1_000 - 60;
  const spec = specOf({
    jobType: 'batch_detect',
    imagePaths: images.map(({ path }) => path),
    metadata,
    options: { ...DEFAULT_PARAMETERS, modelName: 'yolov8n.pt', confidence: 0.25, classes: null },
  });
  const how = { jobId, spec, submittedAt, idempotency: null, admit: true };
  const submitted = await store.submit(how);
  const { number } = submitted!.job;
  const started = await store.start(number, 'local-0', submittedAt + 1);
  for (let from = 0; from < images.length; from += GROUP) {
    const outcomes = images.slice(from, from + GROUP).map(({ outcome }, at) => {
      const text = JSON.stringify(outcome);
      return { index: from + at, ok: outcome.status === 'ok', outcome: text };
    });
    await store.record(number, started?.lease ?? 0, outcomes, 'local-0', submittedAt + 11);
  }
  await store.close();
}
