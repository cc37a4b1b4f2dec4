/** The detections of a job of which it is known whether their vehicles stand. */
import type { StaticChoice } from '../api/job-values.js';
import type { Detection } from '../api/schemas/image.js';
import { countRegions } from '../boxes/class-counts.js';
import type { Refined } from '../store/asked-boxes.js';
import {
  DISMISSED,
  MOVES,
  UNKNOWN,
  type StandingImages,
} from '../store/cameras/standing-images.js';

export class StandingDetections {
  readonly #images: StandingImages;
  readonly #choice: StaticChoice;
  /** Where the boxes of each image begin in `stayOf`. */
  readonly #begins: Uint32Array;

  constructor(images: StandingImages, choice: StaticChoice) {
    this.#images = images;
    this.#choice = choice;
    this.#begins = new Uint32Array(images.boxes.length);
    images.boxes.forEach((boxes, index) => {
      if (index + 1 < this.#begins.length) {
        this.#begins[index + 1] = (this.#begins[index] ?? 0) + boxes;
      }
    });
  }

  /** `refined`: all boxes of the image that is this one of its job, by the same question. */
  of(index: number, refined: Refined): Refined {
    const begin = this.#begins[index] ?? 0;
    // An image that has ended since the others were read has none of them.
    const isKnown = this.#images.boxes[index] === refined.detections.length;
    const detections = refined.detections
      .flatMap((detection, at) => this.#marked(detection, isKnown ? begin + at : null))
      .filter((detection) => this.#isChosen(detection));
    const { regionCounts } = refined;
    return {
      ...refined,
      detections,
      ...(regionCounts && { regionCounts: countRegions(detections, Object.keys(regionCounts)) }),
    };
  }

  /** Empty for a box that was dismissed. */
  #marked(detection: Detection, at: number | null): Detection[] {
    const mark = at === null ? UNKNOWN : (this.#images.stayOf[at] ?? UNKNOWN);
    if (mark === DISMISSED) return [];
    if (mark === UNKNOWN) return [{ ...detection, static: 'unknown' }];
    if (mark === MOVES) return [{ ...detection, static: 'no' }];
    return [{ ...detection, static: 'yes', stay: this.#images.stays[mark] }];
  }

  /** Where it is not certain that a vehicle stands, it does not. */
  #isChosen({ static: isStatic }: Detection): boolean {
    return this.#choice === 'include' || (isStatic === 'yes') === (this.#choice === 'only');
  }
}
