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
