/** Images that were in the detector when the process died: one of them may have killed it. */
import type { Detector } from '../../execution/detector.js';
import { inTime } from '../../base/in-time.js';
import type { Logger } from '../../base/logger-port.js';
import type { WaitingImage } from '../job-records.js';
import type { JobStore } from '../store/job-store.js';
import type { ActiveJob } from './active-job.js';
import { DEATHS_TO_STOP } from './image-run.js';
import type { Patience } from './patience.js';

/** A suspect runs alone; one that hangs must not block the other images. */
export const SUSPECT_DEADLINE_MS = 60_000;
/** An engine may have to be built first, which takes minutes. */
const MODEL_MS = 20 * 60_000;

export interface SuspectRuns {
  stopping(): boolean;
  /** Starts the job if needed; null if it does not exist any more. */
  job(jobNumber: number): Promise<ActiveJob | null>;
  run(job: ActiveJob, image: WaitingImage): Promise<void>;
}

/** Runs suspects one by one. The detector must have no other image, so that a second death identifies its image. */
export async function runSuspects(
  parts: { store: JobStore; detector: Detector; patience: Patience; logger: Logger },
  runs: SuspectRuns,
): Promise<void> {
  const { store, patience, logger } = parts;
  const found = await patience.insist('suspects', () => store.suspects());
  for (const { jobNumber, index } of found?.value ?? []) {
    if (runs.stopping()) return;
    const job = await runs.job(jobNumber);
    if (job === null || job.ended) continue;
    const read = await patience.insist('waiting', () => store.waiting(jobNumber, index, 1));
    const image = read?.value[0];
    // An image with too many deaths is not run: it ends with its error in the job's order.
    if (image?.index !== index || image.deaths >= DEATHS_TO_STOP) continue;
    job.takeApart(index);
    await modelOf(job, parts.detector);
    logger.warn({ jobId: job.jobId, index }, 'image was in hand at a crash: runs alone');
    await runs.run(job, image);
  }
}

/** Waits for the model outside the image's deadline. A model that cannot be loaded shows in the run. */
async function modelOf({ settings }: ActiveJob, detector: Detector): Promise<void> {
  if (settings === null) return;
  await inTime(detector.prepare(settings.options.modelName), MODEL_MS, null).catch(() => null);
}
