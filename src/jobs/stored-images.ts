/** The images of jobs as readers get them, from their rows. */
import type { ImageFilter, ImageSort } from '../api/job-values.js';
import {
  withoutOutcome,
  type ImageCounts,
  type ImageEntry,
  type ImageOutcome,
  type ImageState,
  type ImageTally,
  type Job,
} from '../store/job.js';
import type { CountSums } from './count-sums.js';
import type { PictureRule } from '../store/cameras/camera-pictures.js';
import type { CountedEvents, EventRule } from '../store/cameras/event-rows.js';
import type { StoredCounts, StoredImage } from '../store/job-records.js';

/**
 * Reads of the images of jobs, as they were stored or as another question has them. Each rejects with `job_not_found`,
 * also when the job is removed before the last page.
 */
export interface JobImages {
  /** All entries in input order, in short pages. The iterator reads the next page on demand. */
  imagePages(jobId: string): AsyncGenerator<ImageEntry[], void>;
  /** Like `imagePages`, for the counts of the images that have an outcome. */
  countPages(jobId: string): AsyncGenerator<ImageCounts[], void>;
  /** Like `imagePages`, for the states of all images. */
  statePages(jobId: string): AsyncGenerator<ImageState[], void>;
  /**
   * The images at these places of the input, in this order: of the first ones as many as fill a page, at least one.
   */
  imagesAt(job: Job, indexes: readonly number[]): Promise<ImageEntry[]>;
  /**
   * The images of a job that pass the filter, in input order, from their `offset`th on: at most `limit`, fewer if they
   * have many boxes, none only at the end. By margin: those with a box, the one with the box nearest to its threshold
   * first. `matching`: how many there are in the whole job.
   */
  filteredImages(
    job: Job,
    filter: ImageFilter,
    page: { offset: number; limit: number; sort?: ImageSort },
  ): Promise<{ entries: ImageEntry[]; matching: number }>;
  /**
   * The images that have an outcome so far, by folder and hour. Without a rule all boxes are counted; without a
   * question those that stand are not told from others.
   */
  countSums(jobId: string, rule?: PictureRule): Promise<CountSums>;
  /** The images that have an outcome so far, as events. */
  countEvents(jobId: string, rule: EventRule): Promise<CountedEvents>;
  /** Counts of the images that have an outcome so far. */
  tally(job: Job): Promise<ImageTally>;
}

/** Counts by class in JSON, for an image without boxes. */
const NO_BOXES = '{}';

export function toEntry({ index, path, outcome, taken }: StoredImage): ImageEntry {
  return {
    index,
    path,
    ...(taken && { taken }),
    outcome: outcome === null ? null : (JSON.parse(outcome) as ImageOutcome),
  };
}

export function toState(
  { index, path, failed, classCounts }: StoredCounts,
  job: Pick<Job, 'completedAt'>,
): ImageState {
  if (failed === null) return { index, path, outcome: withoutOutcome(job) };
  if (failed !== 0) return { index, path, outcome: 'failed' };
  return { index, path, outcome: classCounts === NO_BOXES ? 'empty' : 'found' };
}

export function toCounts(image: StoredCounts): ImageCounts {
  const { index, path, failed, classCounts, regionCounts, taken, takenFrom } = image;
  return {
    index,
    path,
    failed: failed !== 0,
    classCounts: JSON.parse(classCounts ?? '{}') as ImageCounts['classCounts'],
    regionCounts: JSON.parse(regionCounts ?? '{}') as ImageCounts['regionCounts'],
    taken: taken === null || takenFrom === null ? null : { time: taken, source: takenFrom },
  };
}
