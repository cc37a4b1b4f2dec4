/** Listings on a thread of their own, as the main thread sees it. */
import { Worker } from 'node:worker_threads';
import type { Listing } from './find-images.js';

export interface ListingRequest {
  id: number;
  listing: Listing;
}

export type ListingAnswer = { id: number; images: string[] } | { id: number; failure: string };

/** A matcher that is caught in a hostile glob sees no signal: the thread is ended this much after the time. */
const GRACE_MS = 1_000;
/** A folder too large for this ends the thread, not the service. */
const LIMITS = { maxOldGenerationSizeMb: 512 };

interface Waiter {
  resolve: (images: string[]) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** Starts its thread with the first listing, and again after one that ended it. It keeps no process alive. */
export class ImageLister {
  readonly #waiters = new Map<number, Waiter>();
  #thread: Worker | null = null;
  #lastId = 0;

  /** As `findImages`; rejects with an `Error` soon after the listing's time at the latest. */
  list(listing: Listing): Promise<string[]> {
    const thread = (this.#thread ??= this.#start());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end(thread, 'The listing did not end in time.');
        void thread.terminate();
      }, listing.withinMs + GRACE_MS);
      this.#waiters.set(id, { resolve, reject, timer });
      thread.postMessage({ id, listing } satisfies ListingRequest);
    });
  }

  #start(): Worker {
    const thread = new Worker(new URL('./listing-thread.js', import.meta.url), {
      name: 'image-listing',
      resourceLimits: LIMITS,
    });
    thread.on('message', (answer: ListingAnswer) => {
      this.#settle(answer);
    });
    thread.on('error', (error) => {
      this.#end(thread, error.message);
    });
    thread.on('exit', () => {
      this.#end(thread, 'The thread of the listings has ended.');
    });
    // Last: a listener for messages makes the thread keep the process alive again.
    thread.unref();
    return thread;
  }

  #settle(answer: ListingAnswer): void {
    const waiter = this.#take(answer.id);
    if ('images' in answer) waiter?.resolve(answer.images);
    else waiter?.reject(new Error(answer.failure));
  }

  /** All listings of the thread end with it. */
  #end(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    for (const id of [...this.#waiters.keys()]) this.#take(id)?.reject(new Error(reason));
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    clearTimeout(waiter?.timer);
    return waiter;
  }
}
