/** The images of a job by their place in the filter, as far as they are needed: a job may have a million. */
import type { JobImage, JobImages } from '../../client/records.js';

const PAGE = 60;
/** Images kept; those farthest from the view go first. */
const MOST_KEPT = 900;

export interface ImagePagesOptions {
  fetch: (offset: number, limit: number, signal: AbortSignal) => Promise<JobImages>;
  /** Called when images, their number or a fault have come. */
  onChange: () => void;
}

export class ImagePages {
  readonly #options: ImagePagesOptions;
  readonly #images = new Map<number, JobImage>();
  readonly #stop = new AbortController();
  #wanted = { from: 0, to: 0 };
  #isLoading = false;
  /** True: known images may have changed, and are asked for again when they are in view. */
  #isStale = false;
  #matching: number | null = null;
  #fault: unknown = null;

  constructor(options: ImagePagesOptions) {
    this.#options = options;
  }

  /** How many images there are; null until the first page has come. */
  get matching(): number | null {
    return this.#matching;
  }

  get fault(): unknown {
    return this.#fault;
  }

  get kept(): number {
    return this.#images.size;
  }

  at(place: number): JobImage | undefined {
    return this.#images.get(place);
  }

  /** Loads the places from `from` to before `to`, unless they are there. Of several calls the last one counts. */
  want(from: number, to: number): void {
    this.#wanted = { from, to };
    void this.#load();
  }

  /** Asks again for what is in view. */
  refresh(): void {
    this.#isStale = true;
    void this.#load();
  }

  /** No further request, and no further call of the listener. */
  close(): void {
    this.#stop.abort();
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      for (let span = this.#missing(); span !== null; span = this.#missing()) {
        this.#isStale = false;
        await this.#loadSpan(span);
      }
    } catch (fault) {
      if (this.#stop.signal.aborted) return;
      this.#fault = fault;
      this.#options.onChange();
    }
    this.#isLoading = false;
  }

  async #loadSpan({ from, to }: { from: number; to: number }): Promise<void> {
    const { signal } = this.#stop;
    const page = await this.#options.fetch(from, Math.max(1, to - from), signal);
    if (signal.aborted) return;
    page.images.forEach((image, index) => this.#images.set(from + index, image));
    this.#matching = page.matching;
    this.#fault = null;
    // A page with many boxes ends early: the rest is asked for next. A page that is empty is the end.
    if (page.images.length === 0) this.#wanted = { from: 0, to: 0 };
    this.#forget();
    this.#options.onChange();
  }

  /** The first places that are wanted and not there; null when all are. */
  #missing(): { from: number; to: number } | null {
    if (this.#stop.signal.aborted) return null;
    const { from, to } = this.#wanted;
    const end = Math.min(to, this.#matching ?? to);
    if (this.#isStale) return { from, to: Math.min(to, from + 2 * PAGE) };
    if (this.#matching === null) return { from, to: Math.max(to, from + PAGE) };
    for (let place = from; place < end; place++) {
      if (!this.#images.has(place)) return { from: place, to: Math.min(end, place + PAGE) };
    }
    return null;
  }

  #forget(): void {
    if (this.#images.size <= MOST_KEPT) return;
    const middle = (this.#wanted.from + this.#wanted.to) / 2;
    const byDistance = [...this.#images.keys()].sort(
      (a, b) => Math.abs(b - middle) - Math.abs(a - middle),
    );
    for (const place of byDistance.slice(0, this.#images.size - MOST_KEPT)) {
      this.#images.delete(place);
    }
  }
}
