/**
 * Which detections are shown: those above a threshold, of the classes that are switched on. A request with this
 * threshold answers the same ones.
 */
import { classKey } from '../../api/class-key.js';
import type { Change } from '../../boxes/changes.js';
import type { ImageFields } from '../../client/records.js';

export type Detection = ImageFields['detections'][number];
export type ImageSize = ImageFields['image'];

/** A detection with a number of its own, which picture and list share. */
export interface ShownBox extends Detection {
  id: number;
  /** Set if two answers are compared: how the box changed. */
  change?: Change;
  /** The box of the other answer, for a box that has changed. */
  after?: Detection;
}

/** The box in the form of the service's answer. */
export function detectionOf(box: ShownBox): Detection {
  const detection: Detection & { id?: number } = { ...box };
  delete detection.id;
  return detection;
}

/** A box is shown above it. */
export interface Thresholds {
  threshold: number;
  /** Thresholds that replace `threshold`, by `classKey`. */
  byClass?: ReadonlyMap<string, number> | undefined;
}

export function isAbove(
  { class: name, confidence }: { class: string; confidence: number },
  { threshold, byClass }: Thresholds,
): boolean {
  return confidence > (byClass?.get(classKey(name)) ?? threshold);
}

/** Numbers them in the order of the answer, which is that of their confidence. */
export function shownBoxes(
  detections: readonly Detection[],
  { hidden, ...thresholds }: Thresholds & { hidden: ReadonlySet<string> },
): ShownBox[] {
  return detections
    .map((detection, id) => ({ ...aboveAlone(detection, thresholds), id }))
    .filter((box) => isAbove(box, thresholds) && !hidden.has(box.class));
}

/** The alternative class of a box is shown only where it is above the threshold too. */
function aboveAlone(detection: Detection, thresholds: Thresholds): Detection {
  if (detection.alternative === undefined || isAbove(detection.alternative, thresholds)) {
    return detection;
  }
  const alone = { ...detection };
  delete alone.alternative;
  return alone;
}

/** The highest threshold in whole percent that leaves every box. */
export function floorOf(detections: readonly Detection[]): number {
  const least = Math.min(1, ...detections.map(({ confidence }) => confidence));
  return Math.max(0, Math.ceil(least * 100) - 1) / 100;
}

/** Every class that was found, most frequent first, with how many the threshold leaves. */
export function classCountsAbove(
  detections: readonly Detection[],
  thresholds: Thresholds,
): { name: string; shown: number }[] {
  const counts = new Map<string, { all: number; shown: number }>();
  for (const detection of detections) {
    const count = counts.get(detection.class) ?? { all: 0, shown: 0 };
    count.all += 1;
    if (isAbove(detection, thresholds)) count.shown += 1;
    counts.set(detection.class, count);
  }
  return [...counts]
    .sort(([nameA, a], [nameB, b]) => b.all - a.all || nameA.localeCompare(nameB))
    .map(([name, { shown }]) => ({ name, shown }));
}

/** How many detections each part of the range 0 to 1 has. */
export function histogram(confidences: readonly number[], parts: number): number[] {
  const counts = new Array<number>(parts).fill(0);
  for (const confidence of confidences) {
    const part = Math.max(0, Math.min(parts - 1, Math.floor(confidence * parts)));
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}
