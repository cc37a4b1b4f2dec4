/** Two jobs over the same images: what became of the boxes of the first in the second, image by image. */
import { compareBoxes, countChanges, type Change, type ComparedBox } from '../boxes/changes.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import type { ImageState, Job } from '../store/job.js';
import type { JobImages } from './stored-images.js';

/** Pairs whose boxes are asked for at once; the store gives as many as fill a page. */
const PAIRS_PER_READ = 100;

type ComparedDetection = ComparedBox<Detection>;

/** The same image in both jobs, by its place in each. */
export interface ImagePair {
  index: number;
  otherIndex: number;
}

export interface ChangedImage extends ImagePair {
  /** Boxes that were gained, lost or changed. */
  changes: number;
}

export interface JobChanges {
  /** `compared` to `unread` add up to the images of the first job. */
  images: {
    compared: number;
    /** Images that ended in an error in one job or in both. */
    failed: number;
    /** Images without an outcome yet in one job or in both. */
    pending: number;
    /** Images that did not run in one job or in both, because the job was ended. */
    notRun: number;
    onlyHere: number;
    /** Images that the comparison did not reach. */
    unread: number;
    /** Images of the second job alone. */
    onlyThere: number;
  };
  /** Changes in the compared images, by class. A box that has changed its class counts for the class that it had. */
  classes: Map<string, Record<Change, number>>;
  /** Most changes first, then in the order of the first job. */
  changed: ChangedImage[];
}

export interface CompareHow {
  confidenceChange: number;
  /** Name of an image, by its path: images of one name in both jobs are one. */
  nameOf: (path: string) => string;
  /** Asked between images. Images that are not compared once it is true count as unread. */
  isOver: () => boolean;
}

type Reads = Pick<JobImages, 'statePages' | 'imagesAt'>;

/** Compares two jobs. It holds in memory three numbers per image with changes; see `comparePairs`. */
export async function compareJobs(
  jobs: Reads,
  first: Job,
  second: Job,
  how: CompareHow,
): Promise<JobChanges> {
  const sums = new ChangeSums();
  const images = await comparePairs(jobs, first, second, how, ({ pair, boxes }) => {
    sums.add(pair, boxes);
  });
  return { images, ...sums.result() };
}

/**
 * Reads both jobs once, side by side, and calls `onImage` for each image that both jobs have and in which one has
 * boxes. It holds in memory only images whose partner has not been read; jobs in the same order need none.
 */
export async function comparePairs(
  jobs: Reads,
  first: Job,
  second: Job,
  how: CompareHow,
  onImage: (image: ComparedImage) => void,
): Promise<JobChanges['images']> {
  const counts = new PairCounts();
  const sides = [new Side(first, jobs), new Side(second, jobs)] as const;
  while (!how.isOver() && sides.some(({ hasEnded }) => !hasEnded)) {
    const pairs: [ImageState, ImageState][] = [];
    for (const [side, other] of [sides, [sides[1], sides[0]] as const]) {
      for (const image of await side.next()) {
        const partner = side.meet(how.nameOf(image.path), image, other);
        if (partner !== undefined) {
          pairs.push(side === sides[0] ? [image, partner] : [partner, image]);
        }
      }
    }
    const withBoxes = pairs.filter(([one, other]) => counts.takes(one, other));
    for await (const image of comparedImages(jobs, first, second, withBoxes.map(placesOf), how)) {
      counts.compared += 1;
      onImage(image);
      if (how.isOver()) break;
    }
  }
  return counts.result(first, sides);
}

export interface ComparedImage {
  pair: ImagePair;
  path: string;
  size: ImageSize;
  boxes: ComparedDetection[];
  /** Inference times in the first and in the second job. */
  inferenceMs: readonly [number, number];
}

/** Yields the pairs one after the other; the boxes of only a few are in memory together. */
export async function* comparedImages(
  jobs: Pick<JobImages, 'imagesAt'>,
  first: Job,
  second: Job,
  pairs: readonly ImagePair[],
  { confidenceChange }: Pick<CompareHow, 'confidenceChange'>,
): AsyncGenerator<ComparedImage, void> {
  for (let at = 0; at < pairs.length;) {
    const part = pairs.slice(at, at + PAIRS_PER_READ);
    const before = await jobs.imagesAt(
      first,
      part.map(({ index }) => index),
    );
    const after = await jobs.imagesAt(
      second,
      part.slice(0, before.length).map(({ otherIndex }) => otherIndex),
    );
    for (const [place, there] of after.entries()) {
      const [here, pair] = [before[place], part[place]];
      // Outcomes do not change: the pairs are of images with boxes or without.
      if (here?.outcome?.status !== 'ok' || there.outcome?.status !== 'ok') continue;
      if (pair === undefined) continue;
      const { detections, image: size, timingsMs } = here.outcome;
      const inferenceMs = [timingsMs.inference, there.outcome.timingsMs.inference] as const;
      const boxes = compareBoxes(detections, there.outcome.detections, confidenceChange);
      yield { pair, path: here.path, size, boxes, inferenceMs };
    }
    at += after.length;
  }
}

const placesOf = ([one, other]: [ImageState, ImageState]): ImagePair => ({
  index: one.index,
  otherIndex: other.index,
});

/** The images of one job that have no partner in the other so far. */
class Side {
  hasEnded = false;
  /** Images that the other job does not have, as far as it is known. */
  alone = 0;
  readonly #pages: AsyncGenerator<ImageState[], void>;
  readonly #waiting = new Map<string, ImageState[]>();

  constructor({ jobId }: Job, jobs: Reads) {
    this.#pages = jobs.statePages(jobId);
  }

  /** The next images; none after the last. */
  async next(): Promise<ImageState[]> {
    if (this.hasEnded) return [];
    const { value } = await this.#pages.next();
    this.hasEnded = value === undefined;
    return value ?? [];
  }

  /** The image of this name in the other job. A job may have an image twice: each has a partner of its own. */
  meet(name: string, image: ImageState, other: Side): ImageState | undefined {
    const partners = other.#waiting.get(name);
    const partner = partners?.shift();
    if (partners?.length === 0) other.#waiting.delete(name);
    if (partner === undefined && other.hasEnded) this.alone += 1;
    else if (partner === undefined) {
      const others = this.#waiting.get(name);
      if (others === undefined) this.#waiting.set(name, [image]);
      else others.push(image);
    }
    return partner;
  }

  get waiting(): number {
    let count = 0;
    for (const images of this.#waiting.values()) count += images.length;
    return count;
  }
}

class PairCounts {
  compared = 0;
  readonly #others = { failed: 0, pending: 0, notRun: 0 };

  /** True: one of these images has boxes, which are to be read and compared. */
  takes({ outcome: one }: ImageState, { outcome: other }: ImageState): boolean {
    if (one === 'failed' || other === 'failed') this.#others.failed += 1;
    else if (one === 'not_run' || other === 'not_run') this.#others.notRun += 1;
    else if (one === 'pending' || other === 'pending') this.#others.pending += 1;
    else if (one === 'found' || other === 'found') return true;
    else this.compared += 1;
    return false;
  }

  result({ imageCount }: Job, [here, there]: readonly [Side, Side]): JobChanges['images'] {
    const { compared } = this;
    const { failed, pending, notRun } = this.#others;
    const onlyHere = here.alone + (there.hasEnded ? here.waiting : 0);
    const onlyThere = there.alone + (here.hasEnded ? there.waiting : 0);
    const unread = imageCount - compared - failed - pending - notRun - onlyHere;
    return { compared, failed, pending, notRun, onlyHere, unread, onlyThere };
  }
}

class ChangeSums {
  readonly #classes = new Map<string, Record<Change, number>>();
  readonly #changed: ChangedImage[] = [];

  add(pair: ImagePair, boxes: readonly ComparedDetection[]): void {
    const { gained, lost, changed } = countChanges(boxes);
    const changes = gained + lost + changed;
    if (changes > 0) this.#changed.push({ ...pair, changes });
    for (const { change, before, after } of boxes) {
      const name = (before ?? after)?.class ?? '';
      const counts = this.#classes.get(name) ?? countChanges([]);
      this.#classes.set(name, counts);
      counts[change] += 1;
    }
  }

  result(): Pick<JobChanges, 'classes' | 'changed'> {
    this.#changed.sort((a, b) => b.changes - a.changes || a.index - b.index);
    return { classes: this.#classes, changed: this.#changed };
  }
}
