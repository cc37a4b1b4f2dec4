/**
 * How many images per second the network does by itself here: pictures of given sizes, as plain pixels no larger than
 * the input of the network, so that next to nothing is read, decoded or stored.
 */
import type { DetectOptions } from '../api/options.js';
import type { ModelDescription } from '../api/schemas/model.js';
import type { Detector } from '../execution/detector.js';

export interface PictureSize {
  width: number;
  height: number;
}

export interface NetworkQuestion {
  detector: Pick<Detector, 'detect'> & { stats(): { suggestedWindow: number } };
  options: DetectOptions;
  input: NonNullable<ModelDescription['input']>;
  /** At least one; they are taken in turn. */
  sizes: readonly PictureSize[];
  forMs: number;
}

/** With as many images in hand as the detector suggests. Null where the time was too short for a figure. */
export async function networkRate({
  detector,
  options,
  input,
  sizes,
  forMs,
}: NetworkQuestion): Promise<number | null> {
  const pictures = sizes.map((size) => greyBmp(within(size, input)));
  // Regions are of the pictures themselves.
  const measured = { ...options, regions: null, view: null };
  return rateOf(forMs, detector.stats().suggestedWindow, pictures, (image) =>
    detector.detect({ path: 'grey.bmp', image, options: measured, kind: 'async' }),
  );
}

/** The size that a picture is resized to for the network; smaller ones stay. */
function within({ width, height }: PictureSize, input: PictureSize): PictureSize {
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

function greyBmp({ width, height }: PictureSize): Buffer {
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
