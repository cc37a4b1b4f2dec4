/** The jobs of a run: each takes a part of its files, and is submitted while the next files are being listed. */
import { isEnd } from '../../api/events.js';
import { progressOf } from '../../store/job.js';
import type { FailedImage } from '../output-text.js';
import type { RunFigures } from './run-progress.js';
import type { RunEvent, RunJob, RunService } from './run-service.js';

/** More wait for their submission: the list of files may have no end. */
const MOST_OPEN_JOBS = 1_000;
/** Reasons that are told of images without a result. */
export const MOST_REASONS = 10;

interface Progress {
  images: number;
  /** Finished images / all, 0 to 1. */
  share: number;
  failed: number;
  reused: number;
  isOver: boolean;
}

export class RunJobs {
  /** Files that the service takes into no job, and the reasons of the first ones. */
  readonly refused = { count: 0, first: [] as FailedImage[] };
  readonly #service: Pick<RunService, 'submit' | 'onEvent'>;
  readonly #run: string;
  readonly #signal: AbortSignal;
  readonly #progress = new Map<string, Progress>();
  readonly #waits = new Set<() => void>();
  readonly #others: ReadonlySet<string>;
  readonly #onProgress: (isStep: boolean) => void;
  readonly #unlisten: () => void;

  /** `continued`: jobs of an earlier process, which go on; `others`: those of other runs. */
  constructor(
    service: Pick<RunService, 'submit' | 'onEvent'>,
    run: string,
    known: { continued: readonly RunJob[]; others: readonly RunJob[] },
    onProgress: (figures: RunFigures, isStep: boolean) => void,
    signal: AbortSignal,
  ) {
    this.#service = service;
    this.#run = run;
    this.#signal = signal;
    this.#others = new Set(known.others.map(({ jobId }) => jobId));
    this.#onProgress = (isStep) => {
      onProgress(this.figures, isStep);
    };
    this.#unlisten = service.onEvent((event) => {
      this.#onEvent(event);
    });
    for (const job of known.continued) this.#continue(job);
    signal.addEventListener('abort', () => {
      this.#wake();
    });
  }

  get ids(): string[] {
    return [...this.#progress.keys()];
  }

  get figures(): RunFigures {
    const sum = { total: 0, done: 0, failed: 0, reused: 0 };
    for (const { images, share, failed, reused } of this.#progress.values()) {
      sum.total += images;
      sum.done += Math.round(share * images);
      sum.failed += failed;
      sum.reused += reused;
    }
    return sum;
  }

  /** Resolves when the job is on disk; submits nothing after the signal. */
  async submit(paths: string[]): Promise<void> {
    await this.#until(() => this.#open < MOST_OPEN_JOBS);
    if (this.#signal.aborted) return;
    const part = await this.#service.submit(paths, this.#run).catch((error: unknown) => {
      if (this.#signal.aborted) return null;
      throw error;
    });
    if (part === null) return;
    this.#refuse(part.refused);
    if (part.jobId !== null) this.#of(part.jobId).images = paths.length - part.refused.length;
  }

  #refuse(refused: readonly FailedImage[]): void {
    this.refused.count += refused.length;
    this.refused.first.push(...refused.slice(0, MOST_REASONS - this.refused.first.length));
  }

  /** Resolves when all jobs have ended, or after the signal. */
  async ended(): Promise<void> {
    await this.#until(() => this.#open === 0);
  }

  close(): void {
    this.#unlisten();
  }

  /** Jobs that have not ended, as far as it is known. */
  get openIds(): string[] {
    return this.ids.filter((id) => this.#progress.get(id)?.isOver === false);
  }

  get #open(): number {
    return [...this.#progress.values()].filter(({ isOver }) => !isOver).length;
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!holds() && !this.#signal.aborted) return;
        this.#waits.delete(check);
        resolve();
      };
      this.#waits.add(check);
      check();
    });
  }

  #wake(): void {
    for (const check of [...this.#waits]) check();
  }

  /** The first event of a job may come before the answer to its submission. */
  #of(jobId: string): Progress {
    const known = this.#progress.get(jobId);
    if (known !== undefined) return known;
    const progress = { images: 0, share: 0, failed: 0, reused: 0, isOver: false };
    this.#progress.set(jobId, progress);
    return progress;
  }

  #continue(job: RunJob): void {
    this.#progress.set(job.jobId, {
      images: job.imageCount,
      share: progressOf(job),
      failed: job.failedImages,
      reused: job.reusedImages,
      isOver: job.completedAt !== null,
    });
  }

  #onEvent({ event, jobId, progress, failedImages, reusedImages }: RunEvent): void {
    if (this.#others.has(jobId)) return;
    const job = this.#of(jobId);
    // An event that was late on its way, or the end that is told again.
    if (job.isOver) return;
    job.share = progress;
    job.failed = failedImages;
    job.reused = reusedImages;
    job.isOver = isEnd(event);
    this.#onProgress(job.isOver);
    this.#wake();
  }
}
