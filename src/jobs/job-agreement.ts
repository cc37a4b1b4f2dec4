/**
 * How well two jobs over the same images agree: the boxes of the second against those of the first, which are its
 * measure.
 */
import { CONFIDENCE_CHANGE } from '../boxes/changes.js';
import { toMicros } from '../base/rounded.js';
import { AgreementSums, type Agreement } from '../boxes/agreement.js';
import type { Job } from '../store/job.js';
import { comparePairs, type CompareHow, type ImagePair, type JobChanges } from './job-changes.js';
import type { JobImages } from './stored-images.js';

export interface ComparedPlace extends ImagePair {
  path: string;
}

export interface JobAgreement extends Omit<Agreement<ComparedPlace>, 'pictures'> {
  images: JobChanges['images'];
  /** Mean time of the network in the first job and in the second, of images with boxes; null without one. */
  inferenceMs: readonly [number | null, number | null];
}

/** Reads both jobs once, side by side, and keeps sums and ten images. */
export async function agreeJobs(
  jobs: Pick<JobImages, 'statePages' | 'imagesAt'>,
  first: Job,
  second: Job,
  how: Pick<CompareHow, 'nameOf' | 'isOver'>,
): Promise<JobAgreement> {
  const sums = new AgreementSums<ComparedPlace>(floorOf(first, second));
  const spent: [number, number] = [0, 0];
  let timed = 0;
  const compared = { ...how, confidenceChange: CONFIDENCE_CHANGE };
  const images = await comparePairs(jobs, first, second, compared, (image) => {
    sums.add({ ...image.pair, path: image.path }, image.boxes);
    spent[0] += image.inferenceMs[0];
    spent[1] += image.inferenceMs[1];
    timed += 1;
  });
  const { share, all, byClass, bySize, least } = sums.result();
  const mean = (ms: number) => (timed === 0 ? null : toMicros(ms / timed));
  const inferenceMs = [mean(spent[0]), mean(spent[1])] as const;
  return { images, share, all, byClass, bySize, least, inferenceMs };
}

/** The higher of two thresholds where they differ: boxes below it can be in one of the jobs only, and say nothing. */
function floorOf(first: Job, second: Job): number {
  const [one, other] = [first.spec.options.confidence, second.spec.options.confidence];
  return one === other ? 0 : Math.max(one, other);
}
