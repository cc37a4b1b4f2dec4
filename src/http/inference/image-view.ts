/** A processed image -> its wire shape. */
import type { Detection, Timings } from '../../execution/detector.js';
import type { ImageFields } from './detection.schema.js';

export interface ProcessedImage {
  detections: Detection[];
  image: { width: number; height: number };
  timingsMs: Timings;
  processingTimeMs: number;
  truncated: boolean;
}

/** File name of a drawn copy -> where to fetch it. */
export function annotatedUrl(file: string): string {
  return `/v1/annotated/${encodeURIComponent(file)}`;
}

export function viewImage(image: ProcessedImage, annotatedFile?: string): ImageFields {
  const classCounts = countClasses(image.detections);
  const view: ImageFields = {
    detections: image.detections,
    car_count: countCars(classCounts),
    total_count: image.detections.length,
    class_counts: Object.fromEntries(classCounts),
    processing_time_ms: image.processingTimeMs,
    image: image.image,
    timings_ms: image.timingsMs,
    truncated: image.truncated,
  };
  if (annotatedFile !== undefined) view.annotated_url = annotatedUrl(annotatedFile);
  return view;
}

export function countClasses(detections: readonly Detection[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { class: name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Models spell the class `car` or `Car`; both are cars. */
export function countCars(counts: ReadonlyMap<string, number>): number {
  let cars = 0;
  for (const [name, count] of counts) if (name.toLowerCase() === 'car') cars += count;
  return cars;
}
