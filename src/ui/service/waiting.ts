/** Work that is not done, by priority. */
import type { JobList } from '../../client/records.js';

export interface Waiting {
  /** Highest first. */
  priorities: { priority: number; jobs: number; images: number }[];
  /** True when there are more jobs than were asked for. */
  isCut: boolean;
}

export function waitingByPriority(lists: readonly JobList[]): Waiting {
  const sums = new Map<number, { jobs: number; images: number }>();
  for (const { priority, image_count, finished_images } of lists.flatMap(({ jobs }) => jobs)) {
    const sum = sums.get(priority) ?? { jobs: 0, images: 0 };
    sum.jobs += 1;
    sum.images += image_count - finished_images;
    sums.set(priority, sum);
  }
  const priorities = [...sums].map(([priority, sum]) => ({ priority, ...sum }));
  return {
    priorities: priorities.sort((a, b) => b.priority - a.priority),
    isCut: lists.some(({ next_cursor }) => next_cursor !== null),
  };
}
