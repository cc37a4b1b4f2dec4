/** How many boxes of each class there are. */
import type { Detection } from './image.js';

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
