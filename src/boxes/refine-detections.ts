/**
 * Applies the question of a request to the boxes that the engine has found: classes, thresholds, sizes, one box per
 * vehicle, masks and regions. Whichever engine found them and whenever they are asked, all of it happens here.
 */
import { isDefaultVehicles, type DetectOptions } from '../api/options.js';
import type { Detection, ImageSize, ProcessedImage } from '../api/schemas/image.js';
import { byClassKey, classKey } from '../api/class-key.js';
import type { FoundBoxes } from './found-boxes.js';
import { intersectionOverUnion } from './overlap.js';
import { sortIntoRegions, withoutMasked } from './regions.js';

/** More than a picture has, so that what is left out later takes no place of what stays. */
const FOUND_BY_ENGINE = 10_000;

/** The lowest score that a box of an answer can have. */
export function leastThreshold({
  confidence,
  classThresholds,
}: Pick<DetectOptions, 'confidence' | 'classThresholds'>): number {
  return Math.min(confidence, ...Object.values(classThresholds));
}

/** The threshold of each class, by its name: its own, else the general one. */
export function thresholdsOf({
  confidence,
  classThresholds,
}: Pick<DetectOptions, 'confidence' | 'classThresholds'>): (className: string) => number {
  const own = byClassKey(classThresholds);
  return (className) => own.get(classKey(className)) ?? confidence;
}

/** The detection parameters that the engine needs to find all boxes above the floor that the options ask for too. */
export function engineParameters(
  options: DetectOptions,
  scoreFloor: number,
): Pick<DetectOptions, 'confidence' | 'iou' | 'tiles' | 'maxDetections'> {
  const { iou, tiles } = options;
  const confidence = Math.min(scoreFloor, leastThreshold(options));
  return { confidence, iou, tiles, maxDetections: FOUND_BY_ENGINE };
}

/** The result, highest confidence first. `truncated`: boxes that were asked for are not in it. */
export function refineDetections(
  found: FoundBoxes,
  options: DetectOptions,
): Pick<ProcessedImage, 'detections' | 'truncated' | 'regionCounts'> {
  const { maxDetections, regions } = options;
  const { image } = found;
  const left = leftOf(found, options);
  const kept = left.slice(0, maxDetections);
  const isIncomplete = found.isCut && found.floor > leastThreshold(options);
  return {
    ...(regions?.length ? sortIntoRegions(kept, regions, image) : { detections: kept }),
    truncated: left.length > maxDetections || isIncomplete,
  };
}

/** A box that is another's alternative has no region: the better one is what is seen there. */
function leftOf(found: FoundBoxes, options: DetectOptions): Detection[] {
  const { image } = found;
  const sure = aboveThresholds(ofClasses(found, options), options);
  const sized = ofSize(sure, options, image);
  const single = mergesClasses(options) ? oneBoxEach(sized, options.iou) : sized;
  return withoutMasked(single, options.regions ?? [], image);
}

function ofClasses({ detections, lacksVehicles }: FoundBoxes, options: DetectOptions): Detection[] {
  const { classes } = options;
  if (classes === null || (lacksVehicles && isDefaultVehicles(classes))) return detections;
  const isWanted = wantedOf(classes);
  return detections.filter((box) => isWanted(box.class));
}

/** By the list of classes: the images of a job have one, and so have all requests that name no classes. */
const WANTED = new WeakMap<readonly string[], (className: string) => boolean>();

function wantedOf(classes: readonly string[]): (className: string) => boolean {
  const known = WANTED.get(classes);
  if (known !== undefined) return known;
  const keys = new Set(classes.map(classKey));
  const isWanted = remembered((className) => keys.has(classKey(className)));
  WANTED.set(classes, isWanted);
  return isWanted;
}

/** The same options are applied to each image of a job; they are never changed. */
const THRESHOLDS = new WeakMap<DetectOptions, (className: string) => number>();

function keptThresholdsOf(options: DetectOptions): (className: string) => number {
  const { confidence, classThresholds } = options;
  if (Object.keys(classThresholds).length === 0) return () => confidence;
  const known = THRESHOLDS.get(options);
  if (known !== undefined) return known;
  const thresholdOf = remembered(thresholdsOf(options));
  THRESHOLDS.set(options, thresholdOf);
  return thresholdOf;
}

/** Works the value of each class out once. */
function remembered<V>(valueOf: (className: string) => V): (className: string) => V {
  const values = new Map<string, V>();
  return (className) => {
    const known = values.get(className);
    if (known !== undefined) return known;
    const value = valueOf(className);
    values.set(className, value);
    return value;
  };
}

/** A request that names no classes counts vehicles. */
export function mergesClasses({
  mergeClasses,
  classes,
}: Pick<DetectOptions, 'mergeClasses' | 'classes'>): boolean {
  return mergeClasses ?? isDefaultVehicles(classes);
}

function aboveThresholds(found: Detection[], options: DetectOptions): Detection[] {
  const thresholdOf = keptThresholdsOf(options);
  return found.filter((box) => box.confidence > thresholdOf(box.class));
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
