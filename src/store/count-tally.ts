/** Counts over jobs as they are added up: of their images, and of what is left out. */
import { confidenceStep } from '../api/job-values.js';
import { questionFault, type Asked, type Refined } from './asked-boxes.js';
import type { Place } from './asked-rows.js';
import type { CountScope, HourText } from './count-rows.js';
import { SumsByHour, type CountSum, type HourRow, type SumRow } from './count-sum.js';
import { jobNotFound } from './job.js';
import type { AskedJobRow } from './job-parts.js';
import { askedSettings } from './job-rows.js';
import type { RunAgain, TakenBack } from './retried-jobs.js';

/** Images that are counted or not. */
export interface CountFigures {
  /** Jobs, also without a counted image. */
  jobs: number;
  pendingImages: number;
  notRunImages: number;
  /** Images of removed jobs: they are counted by the question of their jobs only, and in no event. */
  removedImages: number;
  /** Images of jobs whose boxes cannot answer the question: they are not counted. */
  unansweredImages: number;
}

export interface Counted extends CountFigures {
  /** By folder and hour, in no order. */
  sums: HourRow[];
  /** Boxes by class and step of confidence; of another question only. */
  steps: [className: string, boxes: number[]][];
}

/** A job whose images are counted. */
export interface CountedJob extends Omit<AskedJobRow, 'settings'> {
  settings: string;
  waiting: number;
  completedAt: number | null;
}

export class Tally {
  readonly #takenBack: ReadonlyMap<number, TakenBack>;
  readonly #sums = new SumsByHour();
  /** The same sums. */
  readonly #byPlace = new Map<Place, CountSum>();
  readonly #steps = new Map<string, number[]>();
  readonly #settings = new Map<string, AskedJobRow['settings'] & { isRefused: boolean }>();
  readonly #figures: CountFigures = {
    jobs: 0,
    pendingImages: 0,
    notRunImages: 0,
    removedImages: 0,
    unansweredImages: 0,
  };

  /** `takenBack`: by the numbers of their jobs. */
  constructor(takenBack: ReadonlyMap<number, TakenBack>) {
    this.#takenBack = takenBack;
  }

  addJob({
    number,
    waiting,
    completedAt,
  }: Pick<CountedJob, 'number' | 'waiting' | 'completedAt'>): void {
    this.#figures.jobs += 1;
    if (this.#takenBack.has(number)) return;
    this.#figures[completedAt === null ? 'pendingImages' : 'notRunImages'] += waiting;
  }

  runAgain(jobNumber: number): RunAgain | null {
    return this.#takenBack.get(jobNumber)?.images ?? null;
  }

  addRow({ folder, hour, sum }: HourText): void {
    this.#sums.of(folder, hour).merge(JSON.parse(sum) as SumRow);
  }

  /** After the rows of all jobs. */
  takeBack(): void {
    for (const { sums } of this.#takenBack.values()) {
      for (const { folder, hour, sum } of sums) this.#sums.of(folder, hour).merge(sum);
    }
  }

  addRemoved(images: number): void {
    // While a job is being removed, what was taken back of it is noted before the rest.
    this.#figures.removedImages += Math.max(0, images);
  }

  /** Adds the images without a result of a job, and the sources of all times. */
  addUnasked(jobNumber: number, rows: readonly HourText[], isRefused: boolean): void {
    for (const { sum, ...at } of rows) {
      this.#addUnasked({ ...at, sum: JSON.parse(sum) as SumRow }, isRefused);
    }
    const { sums = [] } = this.#takenBack.get(jobNumber) ?? {};
    for (const row of sums) this.#addUnasked(row, isRefused);
  }

  #addUnasked({ folder, hour, sum }: HourRow, isRefused: boolean): void {
    const { images, failed, sources } = sum;
    if (isRefused) this.#figures.unansweredImages += images;
    else {
      const part = { images: failed, failed, empty: 0, classes: {}, sources };
      this.#sums.of(folder, hour).merge(part);
    }
  }

  addImage(place: Place, { detections, regionCounts }: Refined): void {
    this.#sumAt(place).addBoxes(detections, regionCounts);
    for (const { class: name, confidence } of detections) {
      const steps = this.#stepsOf(name);
      const step = confidenceStep(confidence);
      steps[step] = (steps[step] ?? 0) + 1;
    }
  }

  #sumAt(place: Place): CountSum {
    const known = this.#byPlace.get(place);
    if (known !== undefined) return known;
    const sum = this.#sums.of(place.folder, place.hour);
    this.#byPlace.set(place, sum);
    return sum;
  }

  #stepsOf(className: string): number[] {
    const known = this.#steps.get(className);
    if (known !== undefined) return known;
    const steps: number[] = [];
    this.#steps.set(className, steps);
    return steps;
  }

  /** Settings of a job, by their text: jobs of a watch have the same. `isRefused`: its boxes cannot answer. */
  settings(text: string, asked: Asked | null): AskedJobRow['settings'] & { isRefused: boolean } {
    const known = this.#settings.get(text);
    if (known !== undefined) return known;
    const settings = askedSettings(text);
    const isRefused = asked !== null && questionFault(settings, asked.question) !== null;
    const read = { ...settings, isRefused };
    this.#settings.set(text, read);
    return read;
  }

  result(scope: CountScope): Counted {
    // All images of an hour may be run again.
    const sums = this.#sums.rows().filter(({ sum: { images } }) => images > 0);
    return { sums, steps: [...this.#steps], ...this.figures(scope) };
  }

  /** Throws `job_not_found` where a job was to be counted and is gone. */
  figures({ jobs }: CountScope): CountFigures {
    if (typeof jobs === 'number' && this.#figures.jobs === 0) throw jobNotFound();
    return this.#figures;
  }
}
