/** Chooses the pictures of a job that its report shows: a few of each kind, in one pass over pages of its images. */
import type { DetectionParameters } from '../api/options.js';
import type { Detection } from '../api/schemas/image.js';
import { thresholdsOf } from '../boxes/refine-detections.js';
import type { ImageEntry } from '../store/job.js';

const MOST_PICTURES = 8;
/** A box so far below its threshold is still an almost detection. */
export const ALMOST = 0.15;

export interface ChosenPicture {
  index: number;
  path: string;
  /** The boxes that are drawn. */
  boxes: readonly Detection[];
  /** The box for which the picture was chosen. */
  chosen: Detection;
  /** The threshold of the chosen box. */
  threshold: number;
}

/** The pictures with the lowest ranks so far. */
class Ranked {
  readonly #pictures: { rank: number; picture: ChosenPicture }[] = [];

  add(rank: number, picture: ChosenPicture): void {
    if (this.#pictures.length === MOST_PICTURES && rank >= (this.#pictures.at(-1)?.rank ?? 0)) {
      return;
    }
    const before = this.#pictures.findIndex((each) => each.rank > rank);
    this.#pictures.splice(before < 0 ? this.#pictures.length : before, 0, { rank, picture });
    this.#pictures.splice(MOST_PICTURES);
  }

  get pictures(): ChosenPicture[] {
    return this.#pictures.map(({ picture }) => picture);
  }
}

type Thresholds = Pick<DetectionParameters, 'confidence' | 'classThresholds'>;

/** Pictures by their boxes: the ones with the surest boxes, and the ones whose box is nearest to its threshold. */
export class SurePictures {
  readonly #surest = new Ranked();
  readonly #leastSure = new Ranked();
  readonly #thresholdOf: (className: string) => number;

  constructor(thresholds: Thresholds) {
    this.#thresholdOf = thresholdsOf(thresholds);
  }

  add({ index, path, outcome }: ImageEntry): void {
    if (outcome?.status !== 'ok') return;
    const { detections: boxes } = outcome;
    const over = (box: Detection) => box.confidence - this.#thresholdOf(box.class);
    const [surest] = boxes;
    if (surest === undefined) return;
    const nearest = boxes.reduce((least, box) => (over(box) < over(least) ? box : least));
    const picture = (chosen: Detection): ChosenPicture => {
      return { index, path, boxes, chosen, threshold: this.#thresholdOf(chosen.class) };
    };
    this.#surest.add(-surest.confidence, picture(surest));
    this.#leastSure.add(over(nearest), picture(nearest));
  }

  get chosen(): { surest: ChosenPicture[]; leastSure: ChosenPicture[] } {
    return { surest: this.#surest.pictures, leastSure: this.#leastSure.pictures };
  }
}

/** Pictures with boxes just below their thresholds, out of images that have all the boxes that are kept. */
export class AlmostPictures {
  readonly #almost = new Ranked();
  readonly #thresholdOf: (className: string) => number;

  constructor(thresholds: Thresholds) {
    this.#thresholdOf = thresholdsOf(thresholds);
  }

  add({ index, path, outcome }: ImageEntry): void {
    if (outcome?.status !== 'ok') return;
    const below = (box: Detection) => this.#thresholdOf(box.class) - box.confidence;
    const boxes = outcome.detections.filter((box) => below(box) >= 0 && below(box) <= ALMOST);
    const [first] = boxes;
    if (first === undefined) return;
    const chosen = boxes.reduce((best, box) => (below(box) < below(best) ? box : best), first);
    const threshold = this.#thresholdOf(chosen.class);
    this.#almost.add(below(chosen), { index, path, boxes, chosen, threshold });
  }

  get chosen(): ChosenPicture[] {
    return this.#almost.pictures;
  }
}
