/**
 * Pictures of a job as tasks of a labelling project: those most worth a label first, in small batches, none twice. No
 * state is kept: the tasks of the project say which pictures it has.
 */
import type { LabelStudioConfig } from '../export/label-studio-config.js';
import { isProcessed, type ExportedImage, type ProcessedEntry } from '../export/export-source.js';
import { taskKeyOf, taskOf } from '../export/labelstudio.js';
import { ToolError } from './calls.js';
import type { LabelStudio, Task } from './label-studio.js';

/** The images of a job that are pushed, in their order; a page is read when it is needed. */
export interface PushSource {
  model: string;
  addressOf: (imagePath: string) => string;
  pages: (signal?: AbortSignal) => AsyncIterable<readonly ExportedImage[]>;
}

export interface PushOptions {
  /** Most tasks that are sent. */
  limit: number;
  /** Tasks of one request. */
  batch: number;
  signal?: AbortSignal;
  /** Called for each picture that is sent, or need not be. */
  onStep?: () => void;
  /** Called with the reason for tasks that are not sent. */
  onReason?: (reason: string) => void;
}

export interface PushCounts {
  sent: number;
  /** Pictures that the project had before, and repeats of a picture in the job. */
  already: number;
  notSent: number;
  /** Pictures beyond the limit. */
  beyond: number;
  /** Pictures that the project has more than once. */
  doubled: number;
  /** Boxes of sent pictures that the configuration of the project has no label for. */
  unlabelled: number;
}

/** Rejects with `ToolError` where the project cannot be read; nothing is sent then. */
export async function push(
  source: PushSource,
  tool: LabelStudio,
  options: PushOptions,
): Promise<PushCounts> {
  const run = new Push(source, tool, options, await tool.config(options.signal));
  return run.all();
}

class Push {
  readonly #source: PushSource;
  readonly #tool: LabelStudio;
  readonly #options: PushOptions;
  readonly #names: LabelStudioConfig;
  readonly #counts: PushCounts = {
    ...{ sent: 0, already: 0, notSent: 0, beyond: 0, doubled: 0, unlabelled: 0 },
  };
  /** Keys of the tasks that the project had, then also of those that were taken from the job. */
  readonly #known = new Set<string>();
  /** Keys of the job's pictures that should be in the project. */
  readonly #expected = new Set<string>();
  #before = 0;
  #batch: ProcessedEntry[] = [];
  #isGone = false;

  constructor(
    source: PushSource,
    tool: LabelStudio,
    options: PushOptions,
    names: LabelStudioConfig,
  ) {
    this.#source = source;
    this.#tool = tool;
    this.#options = options;
    this.#names = names;
  }

  async all(): Promise<PushCounts> {
    const { signal } = this.#options;
    for await (const page of this.#tool.tasks(0, signal)) {
      for (const { id, key } of page) {
        if (key !== undefined) this.#known.add(key);
        this.#before = Math.max(this.#before, id);
      }
    }
    for await (const page of this.#source.pages(signal)) {
      for (const image of page) if (isProcessed(image)) await this.#take(image);
    }
    await this.#flush();
    if (this.#counts.sent > 0 && !this.#isGone) await this.#orTell(() => this.#check());
    return this.#counts;
  }

  async #take(image: ProcessedEntry): Promise<void> {
    const key = taskKeyOf(image);
    if (this.#known.has(key)) {
      this.#counts.already += 1;
      this.#expected.add(key);
      this.#options.onStep?.();
      return;
    }
    const { sent, notSent } = this.#counts;
    if (sent + notSent + this.#batch.length >= this.#options.limit) {
      this.#counts.beyond += 1;
      return;
    }
    this.#known.add(key);
    this.#batch.push(image);
    if (this.#batch.length >= this.#options.batch) await this.#flush();
  }

  async #flush(): Promise<void> {
    const images = this.#batch;
    this.#batch = [];
    if (images.length === 0) return;
    const isDone = !this.#isGone && (await this.#orTell(() => this.#send(images)));
    if (!isDone) this.#counts.notSent += images.length;
  }

  /** After `ToolError` nothing more is sent: true where there was none. */
  async #orTell(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.#isGone = true;
      this.#options.onReason?.(error.message);
      return false;
    }
  }

  async #send(images: readonly ProcessedEntry[]): Promise<void> {
    const { signal, onReason, onStep } = this.#options;
    const tasks: Task[] = images.map((image) =>
      taskOf(image, { ...this.#source, names: this.#names }),
    );
    const refused = await this.#tool.add(tasks, this.#before, signal);
    if (refused !== null) onReason?.(`${refused.count} tasks are refused: ${refused.reason}.`);
    const count = images.length - (refused?.count ?? 0);
    this.#counts.sent += count;
    this.#counts.notSent += refused?.count ?? 0;
    for (let step = 0; step < count; step += 1) onStep?.();
    if (refused !== null) return;
    for (const image of images) {
      this.#expected.add(taskKeyOf(image));
      for (const box of image.detections) {
        if (this.#names.labelOf(box) === undefined) this.#counts.unlabelled += 1;
      }
    }
  }

  /** Counts the pictures of the job that are in the project twice, or not although it has taken them. */
  async #check(): Promise<void> {
    const ids = new Map<string, number>();
    const doubled = new Set<string>();
    for await (const page of this.#tool.tasks(0, this.#options.signal)) {
      for (const { id, key } of page) {
        if (key === undefined || !this.#expected.has(key)) continue;
        if ((ids.get(key) ?? id) !== id) doubled.add(key);
        ids.set(key, id);
      }
    }
    const missing = this.#expected.size - ids.size;
    this.#counts.doubled = doubled.size;
    this.#counts.sent -= missing;
    this.#counts.notSent += missing;
    if (missing > 0) this.#options.onReason?.(`${missing} tasks were taken and are not there.`);
  }
}
