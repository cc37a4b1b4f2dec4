/** The tile that was opened last: Back leads to it. */
import type { ImageFilter } from './image-filter.js';

class LastPlace {
  #of = '';
  #place: number | null = null;

  set(jobId: string, filter: ImageFilter, place: number): void {
    this.#of = keyOf(jobId, filter);
    this.#place = place;
  }

  /** Null where another grid was left last. */
  of(jobId: string, filter: ImageFilter): number | null {
    return this.#of === keyOf(jobId, filter) ? this.#place : null;
  }

  forget(): void {
    this.#place = null;
  }
}

export const lastPlace = new LastPlace();

function keyOf(jobId: string, filter: ImageFilter): string {
  return JSON.stringify([jobId, filter]);
}
