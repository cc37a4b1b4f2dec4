/** What the detect view asks for: everything that the slider may want to show. */
import type { Detection } from '../picture/shown-boxes.js';
import type { Region } from '../../api/options.js';
import type { Tiles } from '../../api/tiles.js';
import type { DetectRequest } from '../../client/records.js';

/** Asked once; the page shows what is above its own threshold. */
export const ASKED_CONFIDENCE = 0.1;

/** A path on the service's volume, or a picture that is sent. */
export type Source = { kind: 'path'; path: string } | { kind: 'file'; file: File };

export interface DetectChoice {
  /** Empty: the default one. */
  model: string;
  /** Empty: those that a request without classes gets. */
  classes: readonly string[];
  threshold: number;
  /** Absent: by the classes. */
  mergeClasses?: boolean;
  tiles?: Tiles;
  /** Null: those of the view. */
  regions?: readonly Region[] | null;
  /** Empty: the service looks for one by the path. */
  view?: string;
  /** Absent: the default. */
  iou?: number;
}

/** The rest is as in the request whose answer is shown. */
interface ShownChoice extends Pick<DetectChoice, 'model' | 'tiles' | 'regions' | 'view'> {
  /** Classes of the request whose answer is shown. */
  asked: readonly string[];
  /** The boxes of that answer. */
  detections: readonly Detection[];
  hidden: ReadonlySet<string>;
  threshold: number;
}

/** The request whose answer is what is shown. */
export function shownRequest(choice: ShownChoice): DetectChoice {
  const { asked, detections, hidden, threshold, ...same } = choice;
  const found = classesOf(detections);
  const shown = found.filter((name) => !hidden.has(name));
  const isWhole = shown.length === found.length;
  // Nothing is above 1.
  if (isWhole || shown.length === 0) {
    return { ...same, classes: asked, threshold: isWhole ? threshold : 1 };
  }
  // A request that names classes merges none by default, one without does.
  return { ...same, classes: shown, threshold, mergeClasses: asked.length === 0 };
}

/** Also those that boxes may be besides. */
function classesOf(detections: readonly Detection[]): string[] {
  const all = detections.flatMap(({ class: name, alternative }) =>
    alternative === undefined ? [name] : [name, alternative.class],
  );
  return [...new Set(all)];
}

/**
 * Boxes of switched-off classes that other boxes were merged into: without their class the service may find those others
 * instead.
 */
export function standIns({
  detections,
  hidden,
  threshold,
}: Pick<ShownChoice, 'detections' | 'hidden' | 'threshold'>): Detection[] {
  return detections.filter(
    ({ class: name, alternative }) =>
      hidden.has(name) && alternative !== undefined && alternative.confidence > threshold,
  );
}

/** Fields that are not chosen are left out. */
export function detectFields({
  model,
  classes,
  threshold,
  mergeClasses,
  tiles,
  regions = null,
  view = '',
  iou,
}: DetectChoice): Omit<DetectRequest, 'image_path'> {
  return {
    ...(model === '' ? {} : { model_name: model }),
    ...(classes.length === 0 ? {} : { classes: [...classes] }),
    confidence_threshold: threshold,
    ...(mergeClasses === undefined ? {} : { merge_classes: mergeClasses }),
    ...(iou === undefined ? {} : { iou_threshold: iou }),
    ...(tiles === undefined || tiles === 'off' ? {} : { tiles }),
    ...(regions === null ? {} : { regions: [...regions] }),
    // The service takes one of them.
    ...(regions !== null || view === '' ? {} : { view }),
  };
}

export function sourceName(source: Source): string {
  return source.kind === 'path' ? source.path : source.file.name;
}
