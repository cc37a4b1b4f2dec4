/** The images of a job by their place in the filter, as far as they are needed: a job may have a million. */
import type { JobImage, JobImages } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';

const PAGE = 60;
/** Images kept; those farthest from the view go first. */
const MOST_KEPT = 900;
/** Pause after a fault that may pass. */
const RETRY_MS = 3_000;

export type FetchImages = (
  offset: number,
  limit: number,
  signal: AbortSignal,
) => Promise<JobImages>;

export interface ImagePagesOptions {
  fetch: FetchImages;
  /** Called when images, their number or a fault have come. */
  onChange: () => void;
}

export class ImagePages {
  readonly #onChange: () => void;
  #fetch: FetchImages;
  readonly #images = new Map<number, { image: JobImage; epoch: number }>();
  #request = new AbortController();
  #isClosed = false;
  #wanted = { from: 0, to: 0 };
  #isLoading = false;
  /** Grows with each `refresh`: what was asked for in an earlier epoch may have changed since. */
  #epoch = 0;
  #matching: number | null = null;
  #matchingEpoch = 0;
  #fault: unknown = null;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor({ fetch, onChange }: ImagePagesOptions) {
    this.#fetch = fetch;
    this.#onChange = onChange;
  }

  /** How many images pass the filter; null until the first page has come. */
  get matching(): number | null {
    return this.#matching;
  }

  get fault(): unknown {
    return this.#fault;
  }

  get kept(): number {
    return this.#images.size;
  }

  /** The image as it was read last. */
  at(place: number): JobImage | undefined {
    return this.#images.get(place)?.image;
  }

  /**
   * Loads the places from `from` to before `to`, unless they were read since the last `refresh`. Of several calls the
   * last one counts. After a fault that may pass they are asked for again.
   */
  want(from: number, to: number): void {
    this.#wanted = { from, to };
    void this.#load();
  }

  /** The images may have changed: those in view are read again now, the others when they come into view. */
  refresh(): void {
    this.#epoch += 1;
    void this.#load();
  }

  /** Like `refresh`, by another function from now on: an answer of the one before is not waited for. */
  refetch(fetch: FetchImages): void {
    this.#fetch = fetch;
    this.#request.abort();
    this.#request = new AbortController();
    const { from, to } = this.#wanted;
    for (const place of this.#images.keys()) {
      if (place < from || place >= to) this.#images.delete(place);
    }
    this.refresh();
  }

  /** No further request, and no further call of the listener. */
  close(): void {
    this.#isClosed = true;
    this.#request.abort();
    clearTimeout(this.#retry);
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    clearTimeout(this.#retry);
    try {
      for (let span = this.#missing(); span !== null; span = this.#missing()) {
        await this.#loadSpan(span);
      }
    } catch (fault) {
      this.#fault = fault;
      if (fault instanceof ServiceError && fault.isPassing) {
        this.#retry = setTimeout(() => void this.#load(), RETRY_MS);
      }
      this.#onChange();
    }
    this.#isLoading = false;
  }

  async #loadSpan({ from, to }: { from: number; to: number }): Promise<void> {
    const { signal } = this.#request;
    const epoch = this.#epoch;
    const page = await this.#fetch(from, Math.max(1, to - from), signal).catch((fault: unknown) => {
      if (signal.aborted) return null;
      throw fault;
    });
    if (page === null || signal.aborted) return;
    page.images.forEach((image, index) => this.#images.set(from + index, { image, epoch }));
    // A page with many boxes ends early: the rest is asked for next. A page that is empty is the end.
    this.#matching = page.images.length === 0 ? Math.min(from, page.matching) : page.matching;
    this.#matchingEpoch = epoch;
    this.#fault = null;
    this.#forget();
    this.#onChange();
  }

  /**
   * The next places to ask for; null where none are missing. While the number of images is not known a page at least;
   * once it may have changed, the first places in view; else the first ones in view that were not read since.
   */
  #missing(): { from: number; to: number } | null {
    if (this.#isClosed) return null;
    const { from, to } = this.#wanted;
    if (this.#matching === null) return { from, to: Math.max(to, from + PAGE) };
    // Their number may have changed too, also where no place is in view.
    if (this.#matchingEpoch !== this.#epoch) return { from, to: Math.min(to, from + PAGE) };
    const end = Math.min(to, this.#matching);
    for (let place = from; place < end; place++) {
      const isRead = this.#images.get(place)?.epoch === this.#epoch;
      if (!isRead) return { from: place, to: Math.min(end, place + PAGE) };
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
