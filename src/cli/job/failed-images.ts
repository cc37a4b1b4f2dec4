/** Why images of an ended job failed. */
import type { JobResult, JobStatus, LatticeClient } from '../../client/lattice-client.js';
import { failureLines, type FailedImage } from '../failure-lines.js';

/** The whole result of a longer job takes a while to come: it is for `lattice job result`. */
const MOST_IMAGES = 10_000;

/** Empty for a job that has not ended, and for one of a single image, whose error is that of the job. */
export async function failedImageLines(
  client: LatticeClient,
  { job_id: jobId, completed_at: end, failed_images: failed, image_count: images }: JobStatus,
): Promise<string[]> {
  if (end === null || failed === 0 || images === 1) return [];
  if (images > MOST_IMAGES) return [`  \`lattice job result ${jobId}\` says why`];
  return failureLines(failedImagesOf(await client.result(jobId)));
}

/** Without those that had no turn before the job ended: their error is that of the job. */
export function failedImagesOf({ result, error: ofJob }: JobResult): FailedImage[] {
  if (result === null || !('images' in result)) return [];
  return result.images.flatMap((entry) =>
    entry.status === 'error' && entry.error.code !== ofJob?.code
      ? [{ path: entry.image_path, error: entry.error }]
      : [],
  );
}
