/** The answer of the service as far as it is shown: its boxes are those of the panel, and so are its counts. */
import { countCars, countClasses, countRegions } from '../../boxes/class-counts.js';
import type { DetectResponse } from '../../client/records.js';
import { detectionOf, type ShownBox } from '../picture/shown-boxes.js';

export function shownAnswer(
  answer: DetectResponse,
  boxes: readonly ShownBox[],
  threshold: number,
): DetectResponse {
  const detections = boxes.map(detectionOf);
  const counts = countClasses(detections);
  const { region_counts } = answer;
  return {
    ...answer,
    // Cut at the most boxes only where all of them are shown.
    truncated: answer.truncated && detections.length === answer.detections.length,
    detections,
    car_count: countCars(counts),
    total_count: detections.length,
    class_counts: Object.fromEntries(counts),
    ...(region_counts && {
      region_counts: countRegions(detections, Object.keys(region_counts)),
    }),
    confidence_threshold: threshold,
  };
}
