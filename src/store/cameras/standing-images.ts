/** Which boxes of the images of a job are of vehicles that stand, on the thread of the store. */
import type { StayOfBox } from '../../api/schemas/image.js';
import type { Asked } from '../asked-boxes.js';
import { textOf, type CameraPictures } from './camera-pictures.js';
import type { DismissedPlaces } from './dismissed-places.js';
import { MAX_IMAGES } from '../job-records.js';
import { StandingBoxes } from './standing-boxes.js';

/** In place of the number of a stay: the box is of none, or it is not certain yet. */
export const MOVES = -1;
export const UNKNOWN = -2;
/** The box is over a place that was dismissed. */
export const DISMISSED = -3;

/** By the indexes of the images, and within an image in the order of its boxes. Typed arrays are sent fast. */
export interface StandingImages {
  /** Boxes of each image; 0 for one that has no result yet. */
  boxes: Uint16Array;
  /** Each box's place in `stays`, `MOVES`, `UNKNOWN` or `DISMISSED`. */
  stayOf: Int32Array;
  stays: StayOfBox[];
}

/** Throws `NeedsView`. */
export function* standingImages(
  pictures: CameraPictures,
  asked: Asked,
  dismissed: DismissedPlaces,
  imageCount: number,
): Generator<undefined, StandingImages> {
  const stays: StayOfBox[] = [];
  const byImage = new Map<number, number[]>();
  for (const camera of pictures.cameras) {
    const standing = new StandingBoxes(asked, dismissed);
    yield* standing.read(pictures, camera);
    const spans = standing.spans();
    const numbers = new Map<number, number>();
    for (const { task, boxes } of standing.pictures()) {
      const marks = boxes.map(({ stay, place, static: isStatic, isDismissed }) => {
        if (isDismissed) return DISMISSED;
        if (isStatic === 'unknown') return UNKNOWN;
        const span = stay === null ? undefined : spans.get(stay);
        if (!isStatic || stay === null || place === null || span === undefined) return MOVES;
        const number = numbers.get(stay) ?? stays.length;
        numbers.set(stay, number);
        stays[number] ??= { place, since: textOf(span.since), last_seen: textOf(span.lastSeen) };
        return number;
      });
      byImage.set(task % MAX_IMAGES, marks);
    }
    yield;
  }
  const ofImages = Array.from({ length: imageCount }, (_, index) => byImage.get(index) ?? []);
  return {
    boxes: Uint16Array.from(ofImages, ({ length }) => length),
    stayOf: Int32Array.from(ofImages.flat()),
    stays,
  };
}
