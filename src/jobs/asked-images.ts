/**
 * The images of jobs as another question has them: it is asked again of the boxes that each image keeps, by the
 * function that a fresh detection is refined by.
 */
import { LatticeError } from '../api/errors.js';
import type { ImageFilter, ImageSort } from '../api/job-values.js';
import { optionsWith, type Question } from '../api/question.js';
import { withBoxes } from '../boxes/asked-again.js';
import { countClasses } from '../boxes/class-counts.js';
import {
  missingView,
  questionFault,
  refineStored,
  type OptionsAsked,
  type Refined,
} from '../store/asked-boxes.js';
import type { PictureRule } from '../store/cameras/camera-pictures.js';
import type { CountedEvents, EventRule } from '../store/cameras/event-rows.js';
import type { Passing } from '../store/count-reads.js';
import type { CountSum } from '../store/count-sum.js';
import {
  withoutOutcome,
  type ImageCounts,
  type ImageEntry,
  type ImageOutcome,
  type ImageState,
  type ImageTally,
  type Job,
} from '../store/job.js';
import type { StoredFound, StoredImage, StoredJob } from '../store/job-records.js';
import type { ServiceStore } from '../store/service-store.js';
import { countEvents, countSums, type CountSums } from './count-sums.js';
import type { ImagePages } from './image-pages.js';
import { QuestionViews, type ReadViews } from './question-views.js';
import { StandingDetections } from './standing-detections.js';
import { toCounts, toEntry, type JobImages } from './stored-images.js';

/** The boxes of so many images are unpacked in a millisecond or two. */
const IMAGES_PER_READ = 200;

export interface AskedParts {
  store: Pick<
    ServiceStore,
    | 'find'
    | 'foundImages'
    | 'foundImagesAt'
    | 'foundCounts'
    | 'filteredImages'
    | 'passing'
    | 'countSums'
    | 'countUndismissed'
    | 'countStanding'
    | 'countEvents'
    | 'standingImages'
  >;
  views: ReadViews;
  pages: ImagePages;
}

type Success = Extract<ImageOutcome, { status: 'ok' }>;

interface JobWithOptions {
  stored: StoredJob;
  options: OptionsAsked;
}

interface AskedJob extends JobWithOptions {
  standing: StandingDetections | null;
}

/** An image with its boxes; null: it has no result. */
interface AskedCounts extends ImageCounts {
  outcome: ImageState['outcome'];
  refined: Refined | null;
}

export class AskedImages implements JobImages {
  readonly #parts: AskedParts;
  readonly #views: QuestionViews;
  /** Where vehicles that stand are asked for; null: they are not, and boxes do not tell. */
  readonly #rule: PictureRule | null;

  private constructor(parts: AskedParts, views: QuestionViews, rule: PictureRule | null) {
    this.#parts = parts;
    this.#views = views;
    this.#rule = rule;
  }

  /** Rejects with `view_not_found` for a view of the question that this owner does not have. */
  static async open(
    parts: AskedParts,
    { question, rule }: { question: Question; rule: PictureRule | null },
    keyId: string | null,
  ): Promise<AskedImages> {
    return new AskedImages(parts, await QuestionViews.open(parts.views, question, keyId), rule);
  }

  /** The job with the options of the question. Throws `needs_new_run` where its boxes cannot answer it. */
  jobAsked<T extends Job>(job: T): T {
    const { question } = this.#views.asked;
    const reason = questionFault(job.spec, question);
    if (reason !== null) {
      const detail = `The stored boxes of the job cannot answer this: ${reason}. Submit its images as a new job.`;
      throw new LatticeError('needs_new_run', detail);
    }
    return { ...job, spec: { ...job.spec, options: optionsWith(job.spec.options, question) } };
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
    for await (const page of this.#counts(jobId)) {
      yield page.filter(({ refined, failed }) => refined !== null || failed);
    }
  }

  async *statePages(jobId: string): AsyncGenerator<ImageState[], void> {
    yield* this.#counts(jobId);
  }

  async imagesAt({ jobId }: Job, indexes: readonly number[]): Promise<ImageEntry[]> {
    return this.#at(await this.#asked(jobId), indexes);
  }

  async filteredImages(
    job: Job,
    filter: ImageFilter,
    { offset, limit, sort = 'input' }: { offset: number; limit: number; sort?: ImageSort },
  ): Promise<{ entries: ImageEntry[]; matching: number }> {
    const asked = await this.#asked(job.jobId);
    const { indexes, matching } = await this.#found(asked.stored, filter, offset, limit, sort);
    const entries = indexes.length === 0 ? [] : await this.#at(asked, indexes);
    return { entries, matching };
  }

  async tally({ jobId }: Job): Promise<ImageTally> {
    const { total, steps } = await this.countSums(jobId);
    const { images, failed, empty } = total;
    const boxes = inOrder(new Map(steps)).flatMap(([name, counts]) =>
      counts.flatMap((count, step) => (count > 0 ? [{ class: name, step, boxes: count }] : [])),
    );
    return {
      found: images - failed - empty,
      empty,
      failed,
      boxes,
      regions: regionRows(total.regions),
    };
  }

  async countSums(jobId: string, rule: PictureRule | null = null): Promise<CountSums> {
    const { stored } = await this.#options(jobId);
    return countSums(this.#parts.store, { jobs: stored.number }, this.#views, rule);
  }

  async countEvents(jobId: string, rule: EventRule): Promise<CountedEvents> {
    const { stored } = await this.#options(jobId);
    return countEvents(this.#parts.store, { jobs: stored.number }, rule, this.#views);
  }

  /** The indexes of a page of images that pass. All images are asked where it depends on their boxes. */
  async #found(
    { number, imageCount, completedAt }: StoredJob,
    filter: ImageFilter,
    offset: number,
    limit: number,
    sort: ImageSort,
  ): Promise<Passing> {
    const { outcome, classes, confidenceBelow } = filter;
    const byMargin = sort === 'margin';
    const ofBoxes = byMargin || classes !== undefined || confidenceBelow !== undefined;
    if (ofBoxes || outcome === 'found' || outcome === 'empty') {
      const page = { byMargin, offset, limit };
      return this.#views.answer((asked) => this.#parts.store.passing(number, asked, filter, page));
    }
    if (outcome === undefined) {
      const length = Math.max(0, Math.min(limit, imageCount - offset));
      return { indexes: Array.from({ length }, (_, at) => offset + at), matching: imageCount };
    }
    const of = { number, imageCount, without: withoutOutcome({ completedAt }) };
    const found = await this.#parts.store.filteredImages(of, filter, offset, limit);
    return { indexes: found.images.map(({ index }) => index), matching: found.matching };
  }

  async #at(asked: AskedJob, indexes: readonly number[]): Promise<ImageEntry[]> {
    const { store, pages } = this.#parts;
    const read = (...part: [number, readonly number[]]) => store.foundImagesAt(...part);
    return this.#entries(await pages.at(asked.stored, indexes, read), asked);
  }

  async #options(jobId: string): Promise<JobWithOptions> {
    const stored = await this.#parts.store.find(jobId, null);
    const { options: asked } = this.jobAsked(stored).spec;
    return { stored, options: { own: stored.spec.options, asked } };
  }

  async #asked(jobId: string): Promise<AskedJob> {
    const job = await this.#options(jobId);
    return { ...job, standing: await this.#standing(job.stored) };
  }

  /** All images are read before the first one is answered. */
  async #standing({ number, imageCount }: StoredJob): Promise<StandingDetections | null> {
    const rule = this.#rule;
    if (rule === null) return null;
    const { store } = this.#parts;
    const job = { number, imageCount };
    const images = await this.#views.answer((asked) => store.standingImages(job, asked, rule));
    return new StandingDetections(images, rule.static);
  }

  #refined(
    { options, standing }: AskedJob,
    { index, found, view }: StoredFound & { index: number },
    result: Success | null,
  ): Refined {
    const refined = refineStored(this.#views.asked, options, { found, view }, result);
    return standing?.of(index, refined) ?? refined;
  }

  async *#counts(jobId: string): AsyncGenerator<AskedCounts[], void> {
    const asked = await this.#asked(jobId);
    const { store, pages } = this.#parts;
    const read = (...part: [number, number, number]) => store.foundCounts(...part);
    for await (const page of pages.all(asked.stored, IMAGES_PER_READ, read)) {
      await this.#readViews(page, asked.stored);
      yield page.map(({ outcome, ...image }) => {
        const result = outcome === null ? null : (JSON.parse(outcome) as Success);
        const refined = image.failed === 0 ? this.#refined(asked, image, result) : null;
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
    images: readonly (StoredImage & StoredFound)[],
    asked: AskedJob,
  ): Promise<ImageEntry[]> {
    await this.#readViews(images, asked.stored);
    return images.map((image) => {
      const entry = toEntry(image);
      if (entry.outcome?.status !== 'ok') return entry;
      const refined = this.#refined(asked, image, entry.outcome);
      const outcome: Success = withBoxes(entry.outcome, refined, this.#views.used(image.view));
      // It shows the boxes of the job's own question.
      delete outcome.annotatedPath;
      return { ...entry, outcome };
    });
  }

  /** Reads the regions of the views that these results were stored with, where the question names no others. */
  async #readViews(images: readonly StoredFound[], { spec }: StoredJob): Promise<void> {
    for (const { view } of images) {
      const missing = missingView(this.#views.asked, view);
      if (missing !== null) await this.#views.read({ view: missing, keyId: spec.keyId });
    }
  }
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

function regionRows(sums: CountSum['regions']): ImageTally['regions'] {
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
