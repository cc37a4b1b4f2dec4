/** The boxes of a job as crops of their pictures, least certain first. */
import type { JobImage, JobSummary } from '../../client/records.js';
import type { Detection, ImageSize } from '../picture/shown-boxes.js';
import { passingBoxes, type ImageFilter } from './image-filter.js';

export interface Crop {
  /** Index of the image in the job. */
  index: number;
  path: string;
  /** Index of the box in the image. */
  id: number;
  box: Detection;
  size: ImageSize;
}

/** Width of a tile, divided by its height. */
const RATIO = 4 / 3;
/** A box is shown with this much around it, as a share of its own length. */
const AROUND = 0.3;

/**
 * The confidence below which there are at most so many boxes of the filter, in whole steps of the histogram, and at
 * least one step. `boxes`: how many that are, about; `all`: of the filter.
 */
export function leastCertain(
  { classes }: Pick<JobSummary, 'classes'>,
  filter: ImageFilter,
  most: number,
): { below: number; boxes: number; all: number } {
  const chosen = classes.filter(
    ({ class: name }) => filter.classes.length === 0 || filter.classes.includes(name),
  );
  const steps = Math.max(1, ...chosen.map((each) => each.confidence_histogram.length));
  const end = filter.below === null ? steps : Math.ceil((filter.below / 100) * steps);
  const counts = Array.from({ length: end }, (_, step) =>
    chosen.reduce((sum, each) => sum + (each.confidence_histogram[step] ?? 0), 0),
  );
  const all = counts.reduce((sum, count) => sum + count, 0);
  let boxes = 0;
  for (let step = 0; step < end; step += 1) {
    const next = boxes + (counts[step] ?? 0);
    if (next > most && boxes > 0) return { below: step / steps, boxes, all };
    boxes = next;
  }
  return { below: filter.below === null ? 1 : filter.below / 100, boxes, all };
}

/** Crops of the boxes that pass the filter and are below the confidence; with 1, of all boxes that pass it. */
export function cropsOf(images: readonly JobImage[], filter: ImageFilter, below: number): Crop[] {
  return images.flatMap((image): Crop[] => {
    if (image.status !== 'ok') return [];
    const { index, image_path: path, image: size, detections } = image;
    const numbered = detections.map((box, id) => ({ ...box, id, whole: box }));
    return passingBoxes(numbered, filter)
      .filter(({ confidence }) => below === 1 || confidence < below)
      .map(({ id, whole }) => ({ index, path, id, box: whole, size }));
  });
}

export function bySureness(a: Crop, b: Crop): number {
  return a.box.confidence - b.box.confidence || a.index - b.index || a.id - b.id;
}

/** The part of the picture around the box, in whole pixels and in the form of a tile: `x1, y1, x2, y2`. */
export function cropArea({ box: { box }, size }: Crop): Detection['box'] {
  const [x1, y1, x2, y2] = box;
  const [wide, high] = [(x2 - x1) * (1 + AROUND), (y2 - y1) * (1 + AROUND)];
  const width = Math.max(8, Math.min(size.width, Math.max(wide, high * RATIO)));
  const height = Math.max(6, Math.min(size.height, Math.max(high, wide / RATIO)));
  const from = (middle: number, length: number, most: number) =>
    Math.round(Math.max(0, Math.min(most - length, middle - length / 2)));
  const left = from((x1 + x2) / 2, width, size.width);
  const top = from((y1 + y2) / 2, height, size.height);
  return [
    left,
    top,
    Math.min(size.width, Math.round(left + width)),
    Math.min(size.height, Math.round(top + height)),
  ];
}
