/** Reads the images of a job page by page: each page is whole, and two are never parsed in one turn. */
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { jobNotFound } from '../store/job.js';
import type { StoredJob } from '../store/job-records.js';

export class ImagePages {
  readonly #turns = pLimit(1);

  /**
   * All images in input order, `limit` per read. The iterator reads the next page on demand. Rejects with
   * `job_not_found` when the job is removed before the last page.
   */
  async *all<T extends { index: number }>(
    { number, imageCount }: StoredJob,
    limit: number,
    read: (jobNumber: number, from: number, limit: number) => Promise<T[]>,
  ): AsyncGenerator<T[], void> {
    for (let from = 0; from < imageCount;) {
      const images = await read(number, from, limit);
      const next = (images.at(-1)?.index ?? -1) + 1;
      // The sweep removes images in no order: a gap means that the job was removed while it was read.
      if (images.length === 0 || next - from !== images.length) throw jobNotFound();
      await this.ownTurn();
      yield images;
      from = next;
    }
  }

  /** The images at these places, in this order: of the first ones as many as fill a page, at least one. */
  async at<T extends { index: number }>(
    { number }: StoredJob,
    indexes: readonly number[],
    read: (jobNumber: number, indexes: readonly number[]) => Promise<T[]>,
  ): Promise<T[]> {
    const images = await read(number, indexes);
    const isWhole = images.every(({ index }, place) => index === indexes[place]);
    if (images.length === 0 || !isWhole) throw jobNotFound();
    await this.ownTurn();
    return images;
  }

  /**
   * A turn of the event loop of its own, however many callers there are. A message port can deliver a thousand messages
   * per turn.
   */
  ownTurn(): Promise<void> {
    return this.#turns(() => setImmediate());
  }
}
