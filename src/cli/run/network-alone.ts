/** How many images per second the network does by itself with pictures of the shapes of a run. */
import type { DetectOptions } from '../../api/options.js';
import type { Detector } from '../../execution/detector.js';
import type { JobImages } from '../../jobs/stored-images.js';
import type { Job } from '../../store/job.js';
import { networkRate, type PictureSize } from '../network-rate.js';

/** Fewer images or less time say nothing. */
const LEAST_IMAGES = 200;
/** The part of the time of the run that the measurement takes. */
const SHARE = 1 / 10;
const MOST_MS = 3_000;
/** Shapes are taken from so many images, evenly over the run. */
const SAMPLES = 16;

export interface AloneParts {
  detector: Pick<Detector, 'detect' | 'models' | 'stats'>;
  images: Pick<JobImages, 'imagesAt'>;
  options: DetectOptions;
}

/** Null where it was not measured: the run was short, or looked at tiles too. `ran`: images that the run has run. */
export async function networkAlone(
  { detector, images, options }: AloneParts,
  jobs: readonly Job[],
  { ran, seconds }: { ran: number; seconds: number },
): Promise<number | null> {
  if (ran < LEAST_IMAGES || options.tiles !== 'off') return null;
  const models = await detector.models();
  const input = models.find(({ name }) => name === options.modelName)?.input;
  const sizes = input ? await sizesOf(images, jobs) : [];
  if (!input || sizes.length === 0) return null;
  const forMs = Math.min(MOST_MS, SHARE * seconds * 1_000);
  return networkRate({ detector, options, input, sizes, forMs });
}

async function sizesOf(
  images: Pick<JobImages, 'imagesAt'>,
  jobs: readonly Job[],
): Promise<PictureSize[]> {
  const sizes: PictureSize[] = [];
  const total = jobs.reduce((sum, { imageCount }) => sum + imageCount, 0);
  const wanted = Array.from({ length: SAMPLES }, (_, at) =>
    Math.floor(((at + 0.5) / SAMPLES) * total),
  );
  let before = 0;
  for (const job of jobs) {
    const end = before + job.imageCount;
    const indexes = wanted.filter((at) => at >= before && at < end).map((at) => at - before);
    for (const { outcome } of indexes.length === 0 ? [] : await images.imagesAt(job, indexes)) {
      if (outcome?.status === 'ok') sizes.push(outcome.image);
    }
    before = end;
  }
  return sizes;
}
