/**
 * The effect of each option in words, for the OpenAPI document and the help of the CLI. Apart from the rows of
 * `options.ts`, which the page loads with its first view.
 */
import type { DetectionParameters } from './options.js';

export const OPTION_TEXTS: Readonly<Record<keyof DetectionParameters, string>> = {
  confidence: 'Keep boxes with a score above this. Default: that of the model, else 0.5',
  iou: 'Boxes of one class that overlap more than this are merged',
  maxDetections: 'Most boxes of one image',
  mergeClasses:
    'Keep the best of boxes of different classes that overlap more than iou_threshold, with the other as its alternative. Default: true without classes and for car, motorcycle, bus and truck; false for batch_detect without classes, which takes all',
  classThresholds: 'Score by class in place of the confidence threshold',
  minSize:
    'Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer side of the image; 0: none',
  maxSize:
    'Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer side of the image; 0: none',
  tiles:
    'Look at overlapping tiles of the image too, which finds smaller things and takes as long as so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640} in pixels, each with an "overlap" of 0 to 0.5 (0.2)',
  regions:
    'Polygons of the picture that are counted by themselves, and masks: what lies in a mask is left out. Excludes view',
  view: 'Name of a stored view, whose regions are used. Default where regions are not given either: the view whose paths match the path of the image',
};
