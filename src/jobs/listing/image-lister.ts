/** Looks at folders and lists them in a process of its own, which can be left where it hangs. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Listing } from './find-images.js';
import type { PathKind, Place } from './path-kind.js';

type Question = { listing: Listing } | { kindOf: Place } | { isReadable: Place };
export type ListingRequest = { id: number } & Question;
export type ListingAnswer = { id: number } & (
  { value: string[] | PathKind | boolean } | { failure: string }
);

/** A matcher that is caught in a hostile glob sees no signal: the process is ended this much after the time. */
const GRACE_MS = 1_000;
/** A folder too large for this ends the process, not the service. */
const MOST_HEAP_MB = 512;
/** An idle process is let go after it. */
const IDLE_MS = 60_000;

interface Waiter {
  request: ListingRequest;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** Starts its process with the first question, and again after one that ended it. It keeps no process alive. */
export class ImageLister {
  readonly #waiters = new Map<number, Waiter>();
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** As `findImages`; rejects with an `Error` soon after the listing's time at the latest. */
  list(listing: Listing): Promise<string[]> {
    return this.#ask({ listing }, listing.withinMs + GRACE_MS);
  }

  /** As `kindOf`; rejects with an `Error` after the time at the latest. */
  kindOf(place: Place, withinMs: number): Promise<PathKind> {
    return this.#ask({ kindOf: place }, withinMs);
  }

  /** Whether the folder answers within the time and may be read. */
  async isReadable(folder: string, withinMs: number): Promise<boolean> {
    const place = { root: folder, relative: '.' };
    return this.#ask<boolean>({ isReadable: place }, withinMs).catch(() => false);
  }

  #ask<T>(question: Question, withinMs: number): Promise<T> {
    const id = (this.#lastId += 1);
    const request = { id, ...question };
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#take(id)?.reject(new Error('The listing did not end in time.'));
        this.#replace();
      }, withinMs);
      this.#waiters.set(id, { request, resolve, reject, timer });
      this.#send(request);
    });
  }

  #send(request: ListingRequest): void {
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    // What cannot be sent is answered by the end of the process.
    child.send(request, () => undefined);
  }

  #start(): ChildProcess {
    const child = fork(fileURLToPath(new URL('./listing-process.js', import.meta.url)), {
      execArgv: [`--max-old-space-size=${MOST_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (answer) => {
      this.#settle(answer as ListingAnswer);
    });
    child.on('error', (error) => {
      this.#end(child, error.message);
    });
    child.on('exit', () => {
      this.#end(child, 'The process of the listings has ended.');
    });
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #settle(answer: ListingAnswer): void {
    const waiter = this.#take(answer.id);
    if ('value' in answer) waiter?.resolve(answer.value as never);
    else waiter?.reject(new Error(answer.failure));
  }

  /** The one that hangs is left; what others asked it is asked again. */
  #replace(): void {
    const child = this.#child;
    this.#child = null;
    child?.kill('SIGKILL');
    if (child?.connected === true) child.disconnect();
    for (const { request } of this.#waiters.values()) this.#send(request);
  }

  /** All questions to the process end with it. */
  #end(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const id of [...this.#waiters.keys()]) this.#take(id)?.reject(new Error(reason));
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    clearTimeout(waiter?.timer);
    if (this.#waiters.size === 0) this.#restLater();
    return waiter;
  }

  #restLater(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const child = this.#child;
      this.#child = null;
      if (child?.connected === true) child.disconnect();
    }, IDLE_MS).unref();
  }
}
