/** The request of the detect view: it asks for all boxes that the slider may show. */
import { byClassKey } from '../../api/class-key.js';
import { toWireParameters, type WireParameters } from '../../api/options.js';
import type { Region } from '../../api/region-rules.js';
import type { DetectRequest } from '../../client/records.js';
import type { WrittenOptions } from '../options/written-options.js';
import { isAbove, shownBoxes, type Detection } from '../picture/shown-boxes.js';

/** The confidence of requests. The page shows the boxes above its own threshold, so that it need not ask again. */
export const ASKED_CONFIDENCE = 0.1;

/** A path on the service's volume, or a picture that is sent. */
export type Source = { kind: 'path'; path: string } | { kind: 'file'; file: File };

export interface DetectChoice extends WrittenOptions {
  /** Empty: the default one. */
  model: string;
  /** Empty: those that a request without classes gets. */
  classes: readonly string[];
  threshold: number;
  /** Null: those of the view. */
  regions?: readonly Region[] | null;
  /** Empty: the service looks for one by the path. */
  view?: string;
}

/** The rest is as in the request whose answer is shown. */
interface ShownChoice extends Omit<DetectChoice, 'classes'> {
  /** Classes of the request whose answer is shown. */
  asked: readonly string[];
  /** The boxes of that answer. */
  detections: readonly Detection[];
  hidden: ReadonlySet<string>;
}

/** The request whose answer has exactly the shown boxes. */
export function shownRequest(choice: ShownChoice): DetectChoice {
  const { asked, detections, hidden, ...same } = choice;
  const { threshold, classThresholds, maxDetections } = same;
  const found = classesOf(detections);
  const shown = found.filter((name) => !hidden.has(name));
  const limits = { threshold, byClass: byClassKey(classThresholds ?? {}), hidden };
  const boxes = shownBoxes(detections, limits).length;
  const isCut = maxDetections !== undefined && boxes < detections.length;
  if ((found.length > 0 && shown.length === 0) || (isCut && boxes === 0)) {
    // No box has a confidence above 1, so this threshold returns none.
    const own = classThresholds === undefined ? {} : { classThresholds: {} };
    return { ...same, ...own, classes: asked, threshold: 1 };
  }
  // Boxes that are not shown do not count towards the limit of boxes.
  const most = isCut ? { maxDetections: boxes } : {};
  if (shown.length === found.length) return { ...same, ...most, classes: asked };
  // A request that names classes does not merge classes by default; a request without classes does.
  const { mergeClasses = asked.length === 0 } = same;
  return { ...same, ...most, classes: shown, mergeClasses };
}

/** All classes of the boxes, with the alternative classes. */
function classesOf(detections: readonly Detection[]): string[] {
  const all = detections.flatMap(({ class: name, alternative }) =>
    alternative === undefined ? [name] : [name, alternative.class],
  );
  return [...new Set(all)];
}

/**
 * Boxes that are not shown and into which others were merged that may be above their threshold: without the box the
 * service may find those others instead. Of the others the answer names only the best.
 */
export function standIns({
  detections,
  hidden,
  threshold,
  classThresholds,
}: Pick<ShownChoice, 'detections' | 'hidden' | 'threshold' | 'classThresholds'>): Detection[] {
  const thresholds = { threshold, byClass: byClassKey(classThresholds ?? {}) };
  const lowest = Math.min(threshold, ...thresholds.byClass.values());
  return detections.filter(
    (box) =>
      (hidden.has(box.class) || !isAbove(box, thresholds)) &&
      box.alternative !== undefined &&
      box.alternative.confidence > lowest,
  );
}

/** Fields that are not chosen are left out. */
export function detectFields({
  model,
  classes,
  threshold,
  tiles,
  regions = null,
  view = '',
  ...written
}: DetectChoice): Omit<DetectRequest, 'image_path'> {
  return {
    ...(model === '' ? {} : { model_name: model }),
    ...(classes.length === 0 ? {} : { classes: [...classes] }),
    confidence_threshold: threshold,
    ...givenFields(written),
    ...(tiles === undefined || tiles === 'off' ? {} : { tiles }),
    ...(regions === null ? {} : { regions: [...regions] }),
    // The service takes one of them.
    ...(regions !== null || view === '' ? {} : { view }),
  };
}

function givenFields(written: WrittenOptions): Partial<WireParameters> {
  const fields: [string, unknown][] = Object.entries(toWireParameters(written));
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

export function sourceName(source: Source): string {
  return source.kind === 'path' ? source.path : source.file.name;
}
