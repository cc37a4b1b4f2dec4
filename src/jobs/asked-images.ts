/**
 * The images of jobs as another question has them: it is asked again of the boxes that each image keeps, by the
 * function that a fresh detection is refined by.
 */
import { LatticeError } from '../api/errors.js';
import { confidenceStep, type ImageFilter, type ImageSort } from '../api/job-values.js';
import type { DetectOptions } from '../api/options.js';
import { optionsWith, type Question } from '../api/question.js';
import type { Region } from '../api/region-rules.js';
import type { Detection, ProcessedImage } from '../api/schemas/image.js';
import { withBoxes, foundInResult, narrowingFault } from '../boxes/asked-again.js';
import { countClasses, RegionSums } from '../boxes/class-counts.js';
import { unpackFound } from '../boxes/found-boxes.js';
import { leastThreshold, refineDetections, thresholdsOf } from '../boxes/refine-detections.js';
import {
  scoreFloorOf,
  withoutOutcome,
  type ImageCounts,
  type ImageEntry,
  type ImageOutcome,
  type ImageState,
  type ImageTally,
  type Job,
} from '../store/job.js';
import type { StoredFound, StoredJob } from '../store/job-records.js';
import type { ServiceStore } from '../store/service-store.js';
import type { Views } from '../views/views.js';
import type { ImagePages } from './image-pages.js';
import { toCounts, toEntry, type JobImages } from './stored-images.js';

/** The boxes of so many images are unpacked in a millisecond or two. */
const IMAGES_PER_READ = 200;

export interface AskedParts {
  store: Pick<ServiceStore, 'find' | 'foundImages' | 'foundImagesAt' | 'foundCounts'>;
  views: Pick<Views, 'get'>;
  pages: ImagePages;
}

type Success = Extract<ImageOutcome, { status: 'ok' }>;
type Refined = Pick<ProcessedImage, 'detections' | 'truncated' | 'regionCounts'>;

/** Regions, and the view that they are of. */
interface Place {
  regions: DetectOptions['regions'];
  used: Pick<ProcessedImage, 'view'>;
}

interface AskedJob {
  stored: StoredJob;
  /** The options of the job with those of the question. */
  options: DetectOptions;
}

/** An image with its boxes; null: it has no result. */
interface AskedCounts extends ImageCounts {
  outcome: ImageState['outcome'];
  refined: Refined | null;
}

export class AskedImages implements JobImages {
  readonly #parts: AskedParts;
  readonly #question: Question;
  /** The view of the question. */
  readonly #view: Place | null;
  /** Regions of the views that results were stored with, by name and version as JSON. */
  readonly #storedViews = new Map<string, readonly Region[]>();

  private constructor(parts: AskedParts, question: Question, view: Place | null) {
    this.#parts = parts;
    this.#question = question;
    this.#view = view;
  }

  /** Rejects with `view_not_found` for a view of the question that this owner does not have. */
  static async open(
    parts: AskedParts,
    question: Question,
    keyId: string | null,
  ): Promise<AskedImages> {
    const name = question.view ?? null;
    if (name === null) return new AskedImages(parts, question, null);
    const { version, regions } = await parts.views.get(name, keyId);
    return new AskedImages(parts, question, { regions, used: { view: { name, version } } });
  }

  /** The job with the options of the question. Throws `needs_new_run` where its boxes cannot answer it. */
  jobAsked<T extends Job>(job: T): T {
    const { options: own, scoreFloor } = job.spec;
    const options = optionsWith(own, this.#question);
    const reason =
      scoreFloor === undefined
        ? narrowingFault(own, options)
        : floorFault(scoreFloorOf(job.spec), options);
    if (reason !== null) {
      const detail = `The stored boxes of the job cannot answer this: ${reason}. Submit its images as a new job.`;
      throw new LatticeError('needs_new_run', detail);
    }
    return { ...job, spec: { ...job.spec, options } };
  }

  async *imagePages(jobId: string): AsyncGenerator<ImageEntry[], void> {
    const { store, pages } = this.#parts;
    const asked = await this.#asked(jobId);
    const read = (...part: [number, number, number]) => store.foundImages(...part);
    for await (const page of pages.all(asked.stored, IMAGES_PER_READ, read)) {
      yield await this.#entries(page, asked);
    }
  }

  async *countPages(jobId: string): AsyncGenerator<ImageCounts[], void> {
    for await (const page of this.#counts(await this.#asked(jobId))) {
      yield page.filter(({ refined, failed }) => refined !== null || failed);
    }
  }

  async *statePages(jobId: string): AsyncGenerator<ImageState[], void> {
    yield* this.#counts(await this.#asked(jobId));
  }

  async imagesAt({ jobId }: Job, indexes: readonly number[]): Promise<ImageEntry[]> {
    const { store, pages } = this.#parts;
    const asked = await this.#asked(jobId);
    const images = await pages.at(asked.stored, indexes, (...part) => store.foundImagesAt(...part));
    return this.#entries(images, asked);
  }

  /** Finds the images by asking all of them. */
  async filteredImages(
    job: Job,
    filter: ImageFilter,
    { offset, limit, sort = 'input' }: { offset: number; limit: number; sort?: ImageSort },
  ): Promise<{ entries: ImageEntry[]; matching: number }> {
    const asked = await this.#asked(job.jobId);
    const found: { index: number; margin: number }[] = [];
    for await (const page of this.#counts(asked)) {
      for (const image of page) {
        const margin = sort === 'margin' ? marginOf(image.refined, asked.options) : 0;
        if (margin !== null && passes(image, filter)) found.push({ index: image.index, margin });
      }
    }
    if (sort === 'margin') found.sort((a, b) => a.margin - b.margin || a.index - b.index);
    const indexes = found.slice(offset, offset + limit).map(({ index }) => index);
    const entries = indexes.length === 0 ? [] : await this.imagesAt(job, indexes);
    return { entries, matching: found.length };
  }

  async tally({ jobId }: Job): Promise<ImageTally> {
    const tally = { found: 0, empty: 0, failed: 0 };
    const boxes = new Map<string, number[]>();
    const regions = new RegionSums();
    for await (const page of this.#counts(await this.#asked(jobId))) {
      for (const { outcome, refined } of page) {
        if (outcome === 'found' || outcome === 'empty' || outcome === 'failed') tally[outcome] += 1;
        regions.add(refined?.regionCounts);
        for (const { class: name, confidence } of refined?.detections ?? []) {
          const steps = boxes.get(name) ?? [];
          boxes.set(name, steps);
          const step = confidenceStep(confidence);
          steps[step] = (steps[step] ?? 0) + 1;
        }
      }
    }
    return { ...tally, boxes: boxRows(boxes), regions: regionRows(regions) };
  }

  async #asked(jobId: string): Promise<AskedJob> {
    const stored = await this.#parts.store.find(jobId, null);
    return { stored, options: this.jobAsked(stored).spec.options };
  }

  async *#counts(asked: AskedJob): AsyncGenerator<AskedCounts[], void> {
    const { store, pages } = this.#parts;
    const read = (...part: [number, number, number]) => store.foundCounts(...part);
    for await (const page of pages.all(asked.stored, IMAGES_PER_READ, read)) {
      await this.#readViews(page, asked.stored);
      yield page.map(({ found, view, outcome, ...image }) => {
        const hasResult = image.failed === 0;
        const result = outcome === null ? null : (JSON.parse(outcome) as Success);
        const refined = hasResult ? this.#refined(asked, { found, view }, result) : null;
        return {
          ...toCounts(image),
          refined,
          outcome: stateOf(image.failed, refined, asked.stored),
          classCounts: Object.fromEntries(countClasses(refined?.detections ?? [])),
          regionCounts: refined?.regionCounts ?? {},
        };
      });
    }
  }

  async #entries(
    images: readonly (Parameters<typeof toEntry>[0] & StoredFound)[],
    asked: AskedJob,
  ): Promise<ImageEntry[]> {
    await this.#readViews(images, asked.stored);
    return images.map(({ found, view, ...image }) => {
      const entry = toEntry(image);
      if (entry.outcome?.status !== 'ok') return entry;
      const { used } = this.#placeOf(asked, view);
      const refined = this.#refined(asked, { found, view }, entry.outcome);
      const outcome: Success = withBoxes(entry.outcome, refined, used);
      // It shows the boxes of the job's own question.
      delete outcome.annotatedPath;
      return { ...entry, outcome };
    });
  }

  /** `result` is needed where the image keeps no boxes of its own. */
  #refined(
    { stored, options }: AskedJob,
    { found, view }: StoredFound,
    result: Success | null,
  ): Refined {
    const { regions } = this.#placeOf({ stored, options }, view);
    const resolved = { ...options, regions };
    if (found !== null) {
      return refineDetections(unpackFound(found, leastThreshold(options)), resolved);
    }
    if (result === null) throw new Error('An image has neither boxes nor a result.');
    return refineDetections(foundInResult(result, stored.spec.options, options), resolved);
  }

  #placeOf({ options }: AskedJob, storedView: string | null): Place {
    if (this.#view !== null) return this.#view;
    const regions = storedView === null ? undefined : this.#storedViews.get(storedView);
    if (storedView === null || regions === undefined) return { regions: options.regions, used: {} };
    return { regions, used: { view: JSON.parse(storedView) as ProcessedImage['view'] } };
  }

  /** Reads the regions of the views that these results were stored with, where the question names no others. */
  async #readViews(images: readonly StoredFound[], { spec }: StoredJob): Promise<void> {
    if (this.#view !== null || this.#question.regions) return;
    for (const view of new Set(images.map((image) => image.view))) {
      if (view === null || this.#storedViews.has(view)) continue;
      const { name, version } = JSON.parse(view) as NonNullable<ProcessedImage['view']>;
      const { regions } = await this.#parts.views.get(name, spec.keyId, version);
      this.#storedViews.set(view, regions);
    }
  }
}

function floorFault(floor: number, asked: DetectOptions): string | null {
  const least = leastThreshold(asked);
  return least < floor
    ? `it keeps boxes above ${floor}, and a threshold of ${least} is asked for`
    : null;
}

function stateOf(
  failed: number | null,
  refined: Refined | null,
  job: StoredJob,
): ImageState['outcome'] {
  if (failed === null) return withoutOutcome(job);
  if (refined === null) return 'failed';
  return refined.detections.length > 0 ? 'found' : 'empty';
}

function passes(
  { outcome, refined }: AskedCounts,
  { outcome: wanted, classes, confidenceBelow }: ImageFilter,
): boolean {
  if (wanted !== undefined && outcome !== wanted) return false;
  if (classes === undefined && confidenceBelow === undefined) return true;
  const fits = ({ class: name, confidence }: Detection) =>
    (classes?.includes(name) ?? true) && confidence < (confidenceBelow ?? Infinity);
  return refined?.detections.some(fits) ?? false;
}

/** How far the box nearest to its threshold is above it; null without a box. */
function marginOf(refined: Refined | null, options: DetectOptions): number | null {
  const thresholdOf = thresholdsOf(options);
  const margins = (refined?.detections ?? []).map(
    ({ class: name, confidence }) => confidence - thresholdOf(name),
  );
  return margins.length === 0 ? null : Math.min(...margins);
}

function boxRows(boxes: ReadonlyMap<string, readonly number[]>): ImageTally['boxes'] {
  return inOrder(boxes).flatMap(([name, steps]) =>
    steps.flatMap((count, step) => (count > 0 ? [{ class: name, step, boxes: count }] : [])),
  );
}

function regionRows({ sums }: RegionSums): ImageTally['regions'] {
  return inOrder(sums).flatMap(([region, classes]) =>
    [['', 0] as const, ...inOrder(classes)].map(([name, boxes]) => ({
      region,
      class: name,
      boxes,
    })),
  );
}

/** By name, as the rows that the store keeps. */
const inOrder = <V>(values: ReadonlyMap<string, V>): [string, V][] =>
  [...values].sort(([a], [b]) => (a < b ? -1 : 1));
