/** A processed image -> its wire shape. */
import type { Detection, ProcessedImage } from '../../api/image.js';
import { processedImage, type ImageFields } from './detection.schema.js';

/** File name of a drawn copy -> where to fetch it. */
export function annotatedUrl(file: string): string {
  return `/v1/annotated/${encodeURIComponent(file)}`;
}

export function viewImage(image: ProcessedImage, annotatedFile?: string): ImageFields {
  const classCounts = countClasses(image.detections);
  const { detections, ...others } = processedImage.view(image);
  const view: ImageFields = {
    detections,
    car_count: countCars(classCounts),
    total_count: detections.length,
    class_counts: Object.fromEntries(classCounts),
    ...others,
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
