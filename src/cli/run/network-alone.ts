/**
 * How many images per second the network does by itself here: pictures of the shapes of a run, as plain pixels no
 * larger than the input of the network, so that next to nothing is read, decoded or stored.
 */
import type { DetectOptions } from '../../api/options.js';
import type { Detector } from '../../execution/detector.js';
import type { JobImages } from '../../jobs/stored-images.js';
import type { Job } from '../../store/job.js';

/** Fewer images or less time say nothing. */
const LEAST_IMAGES = 200;
/** The part of the time of the run that the measurement takes. */
const SHARE = 1 / 10;
const MOST_MS = 3_000;
/** Shapes are taken from so many images, evenly over the run. */
const SAMPLES = 16;

interface Size {
  width: number;
  height: number;
}

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
  const pictures = sizes.map((size) => greyBmp(within(size, input)));
  const forMs = Math.min(MOST_MS, SHARE * seconds * 1_000);
  // Regions are of the pictures of the run.
  const measured = { ...options, regions: null, view: null };
  return rateOf(forMs, detector.stats().suggestedWindow, pictures, (image) =>
    detector.detect({ path: 'grey.bmp', image, options: measured, kind: 'async' }),
  );
}

async function sizesOf(images: Pick<JobImages, 'imagesAt'>, jobs: readonly Job[]): Promise<Size[]> {
  const sizes: Size[] = [];
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

/** The size that a picture is resized to for the network; smaller ones stay. */
function within({ width, height }: Size, input: Size): Size {
  const scale = Math.min(1, input.width / width, input.height / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** Images per second while so many are in hand, without the time until the first ones are done. */
async function rateOf(
  forMs: number,
  window: number,
  pictures: readonly Buffer[],
  detect: (picture: Buffer) => Promise<unknown>,
): Promise<number | null> {
  const began = performance.now();
  const ends: number[] = [];
  const one = async (_: unknown, from: number) => {
    for (let turn = from; performance.now() - began < forMs; turn += window) {
      const picture = pictures[turn % pictures.length];
      if (picture !== undefined) await detect(picture);
      ends.push(performance.now());
    }
  };
  await Promise.all(Array.from({ length: window }, one));
  const timed = ends.filter((at) => at - began < forMs);
  const settled = timed.slice(Math.floor(timed.length / 4));
  const [first, last] = [settled[0], settled.at(-1)];
  if (first === undefined || last === undefined || last <= first) return null;
  return (1_000 * (settled.length - 1)) / (last - first);
}

const HEADER = 54;
const GREY = 114;

function greyBmp({ width, height }: Size): Buffer {
  const row = 4 * Math.ceil((3 * width) / 4);
  const bytes = Buffer.alloc(HEADER + row * height, GREY);
  bytes.fill(0, 0, HEADER);
  bytes.write('BM');
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(HEADER, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}
