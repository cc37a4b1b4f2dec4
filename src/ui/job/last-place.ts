/** The tile that was opened last: Back leads to it. */
import type { ImageFilter } from './image-filter.js';

let last: { of: string; place: number } | null = null;

export const lastPlace = {
  set(jobId: string, filter: ImageFilter, place: number): void {
    last = { of: gridKey(jobId, filter), place };
  },
  /** Null where another grid was left last. */
  of(jobId: string, filter: ImageFilter): number | null {
    return last?.of === gridKey(jobId, filter) ? last.place : null;
  },
  forget(): void {
    last = null;
  },
};

/** Tells the grids of a job apart by their filters. */
export function gridKey(jobId: string, filter: ImageFilter): string {
  return JSON.stringify([jobId, filter]);
}
