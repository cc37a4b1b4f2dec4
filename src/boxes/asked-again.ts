/** A question that is asked again of the boxes of a stored result. */
import type { DetectOptions } from '../api/options.js';
import type { ProcessedImage } from '../api/schemas/image.js';
import { classKey } from '../api/class-key.js';
import type { FoundBoxes } from './found-boxes.js';
import {
  leastThreshold,
  mergesClasses,
  thresholdsOf,
  type refineDetections,
} from './refine-detections.js';
import { isMask } from './regions.js';

/** The result with other boxes of its image. `used` names the view whose regions they have. */
export function withBoxes<T extends ProcessedImage>(
  result: T,
  refined: ReturnType<typeof refineDetections>,
  used: Pick<ProcessedImage, 'view'>,
): T {
  const asked: T = { ...result, ...refined, ...used };
  if (refined.regionCounts === undefined) delete asked.regionCounts;
  if (used.view === undefined) delete asked.view;
  return asked;
}

/**
 * The boxes of a result that an earlier release stored: it kept those that its own question asked for. `own` is that
 * question, `asked` one that `narrowingFault` does not refuse.
 */
export function foundInResult(
  { detections, image, truncated }: ProcessedImage,
  own: DetectOptions,
  asked: DetectOptions,
): FoundBoxes {
  const thresholdOf = thresholdsOf(asked);
  return {
    detections: detections.map(({ box, confidence, class: name, alternative }) => ({
      box,
      confidence,
      class: name,
      ...(alternative !== undefined &&
        alternative.confidence > thresholdOf(alternative.class) && { alternative }),
    })),
    // If it was cut at its most boxes, those below the last one are not known.
    floor: truncated ? (detections.at(-1)?.confidence ?? 1) : leastThreshold(own),
    isCut: truncated || leastThreshold(asked) < leastThreshold(own),
    // Its classes were chosen when it ran.
    lacksVehicles: true,
    image,
  };
}

/**
 * Why the result of `own` does not have all boxes that `asked` asks for; null if it has. An earlier release kept no
 * others.
 */
export function narrowingFault(own: DetectOptions, asked: DetectOptions): string | null {
  const isMerged = mergesClasses(own);
  const raised = thresholdPairs(own, asked);
  if (raised.some(([before, after]) => after < before)) {
    return `boxes below its own threshold (${leastThreshold(own)}) were not kept`;
  }
  const isChanged = raised.some(([before, after]) => after !== before);
  const isUniform = [own, asked].every((each) => Object.keys(each.classThresholds).length === 0);
  if (isChanged && own.tiles !== 'off') return 'boxes of tiles were chosen by its own threshold';
  if (isChanged && isMerged && !isUniform) {
    return 'overlapping boxes of different classes were merged by its own thresholds';
  }
  if (isMerged !== mergesClasses(asked) && isMerged) {
    return 'overlapping boxes of different classes were merged';
  }
  if (hasOtherClasses(own, asked)) {
    if (isMerged) return 'overlapping boxes of its own classes were merged';
    if (!isSubset(own, asked)) return 'boxes of other classes were not kept';
  }
  const hasOtherSizes = own.minSize !== asked.minSize || own.maxSize !== asked.maxSize;
  if (hasOtherSizes && (isMerged || own.minSize > 0 || own.maxSize > 0)) {
    return 'boxes of other sizes were not kept';
  }
  if (asked.maxDetections > own.maxDetections) return 'more boxes of an image were not kept';
  const hasOtherPlaces =
    asked.view !== own.view || JSON.stringify(asked.regions) !== JSON.stringify(own.regions);
  if (hasOtherPlaces && (own.regions === null || own.regions.some(isMask))) {
    return 'a mask of its own may have left boxes out';
  }
  return null;
}

/** The threshold of each class that has one of its own, and of all others, in both questions. */
function thresholdPairs(own: DetectOptions, asked: DetectOptions): [number, number][] {
  const [before, after] = [thresholdsOf(own), thresholdsOf(asked)];
  const names = Object.keys({ ...own.classThresholds, ...asked.classThresholds });
  return [
    [own.confidence, asked.confidence],
    ...names.map((name): [number, number] => [before(name), after(name)]),
  ];
}

const keysOf = ({ classes }: DetectOptions) => classes && new Set(classes.map(classKey));

function isSubset(own: DetectOptions, asked: DetectOptions): boolean {
  const [before, after] = [keysOf(own), keysOf(asked)];
  return before === null || (after !== null && [...after].every((name) => before.has(name)));
}

const hasOtherClasses = (own: DetectOptions, asked: DetectOptions): boolean =>
  !isSubset(own, asked) || !isSubset(asked, own);
