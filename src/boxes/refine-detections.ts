/**
 * Applies the options of a request to the boxes that the engine has found: thresholds by class, sizes, one box per
 * vehicle, masks and regions. Whichever engine found them, all of it happens here.
 */
import type { Detection, ImageSize, ProcessedImage } from '../api/schemas/image.js';
import { isDefaultVehicles, type DetectOptions } from '../api/options.js';
import { isMask, sortIntoRegions, withoutMasked } from './regions.js';
import { intersectionOverUnion } from './overlap.js';
import { byClassKey, classKey } from '../api/class-key.js';

/** More than a picture has, so that what is left out later takes no place of what stays. */
const FOUND_BY_ENGINE = 10_000;

/** The detection parameters that the engine needs. */
export function engineParameters(
  options: DetectOptions,
): Pick<DetectOptions, 'confidence' | 'iou' | 'tiles' | 'maxDetections'> {
  const { confidence, classThresholds, iou, tiles, maxDetections } = options;
  return {
    confidence: Math.min(confidence, ...Object.values(classThresholds)),
    iou,
    tiles,
    maxDetections: leavesOut(options) ? FOUND_BY_ENGINE : maxDetections,
  };
}

/** `found`, and the result: highest confidence first. `truncated`: there were more than the most boxes allowed. */
export function refineDetections(
  found: Detection[],
  options: DetectOptions,
  image: ImageSize,
): Pick<ProcessedImage, 'detections' | 'truncated' | 'regionCounts'> {
  const { maxDetections, regions } = options;
  const left = leavesOut(options) ? leftOf(found, options, image) : found;
  const kept = left.slice(0, maxDetections);
  return {
    ...(regions?.length ? sortIntoRegions(kept, regions, image) : { detections: kept }),
    truncated: left.length > maxDetections,
  };
}

function leavesOut(options: DetectOptions): boolean {
  const { classThresholds, minSize, maxSize, regions } = options;
  const hasThresholds = Object.keys(classThresholds).length > 0;
  const hasMask = regions?.some(isMask) ?? false;
  return hasThresholds || minSize > 0 || maxSize > 0 || mergesClasses(options) || hasMask;
}

/** A box that is another's alternative has no region: the better one is what is seen there. */
function leftOf(found: Detection[], options: DetectOptions, image: ImageSize): Detection[] {
  const sure = aboveThresholds(found, options);
  const sized = ofSize(sure, options, image);
  const single = mergesClasses(options) ? oneBoxEach(sized, options.iou) : sized;
  return withoutMasked(single, options.regions ?? [], image);
}

/** A request that names no classes counts vehicles. */
function mergesClasses({ mergeClasses, classes }: DetectOptions): boolean {
  return mergeClasses ?? isDefaultVehicles(classes);
}

function aboveThresholds(
  found: Detection[],
  { confidence, classThresholds }: DetectOptions,
): Detection[] {
  const byClass = byClassKey(classThresholds);
  if (byClass.size === 0) return found;
  return found.filter((box) => box.confidence > (byClass.get(classKey(box.class)) ?? confidence));
}

function ofSize(found: Detection[], { minSize, maxSize }: DetectOptions, image: ImageSize) {
  if (minSize === 0 && maxSize === 0) return found;
  const pixels = (size: number) => (size <= 1 ? size * Math.max(image.width, image.height) : size);
  const least = pixels(minSize);
  const most = maxSize === 0 ? Infinity : pixels(maxSize);
  return found.filter(({ box: [left, top, right, bottom] }) => {
    const side = Math.max(right - left, bottom - top);
    return side >= least && side <= most;
  });
}

/** A box that overlaps a better one of another class too much becomes its alternative; the best such box does. */
function oneBoxEach(found: readonly Detection[], iou: number): Detection[] {
  const kept: Detection[] = [];
  for (const next of found) {
    const at = kept.findIndex(
      (better) => better.class !== next.class && intersectionOverUnion(better.box, next.box) > iou,
    );
    const better = kept[at];
    if (better === undefined) kept.push(next);
    else {
      const { class: name, confidence } = next;
      kept[at] = { ...better, alternative: better.alternative ?? { class: name, confidence } };
    }
  }
  return kept;
}
