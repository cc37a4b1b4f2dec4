/** The steps that took the time of an image. */
import type { ImageFields } from '../../client/records.js';

export interface TimeStep {
  step: string;
  ms: number;
}

/** The steps in the order in which they happen. */
export function timeSteps({ timings_ms }: Pick<ImageFields, 'timings_ms'>): TimeStep[] {
  const { queue, model_load: load, ...work } = timings_ms;
  const waits = load === undefined ? { queue } : { queue, 'model load': load };
  return Object.entries({ ...waits, ...work }).map(([step, ms]) => ({ step, ms }));
}
