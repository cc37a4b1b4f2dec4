/** The durable job store, as the main thread sees it: it sends calls in bulk to the thread that owns the database. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LatticeError } from '../api/errors.js';
import { setCrashMarkerAside } from './crash-marker.js';
import type { JobEvent } from './job.js';
import type { StoreSize } from './job-records.js';
import type { FileDone } from './watched.js';
import type { OperationResult } from './group-commit.js';
import { fromFailure } from './sqlite-failure.js';
import type {
  FromThread,
  StoreCalls,
  OpeningAnswer,
  StoreOpened,
  StoreRequest,
  StoreThreadData,
  ToThread,
  WebhookCalls,
} from './store-thread.js';

/** Short-lived objects of the thread: a group of writes has less, and V8 would let them grow to 48 MB. */
const MOST_YOUNG_MB = 12;

export interface WebhookQueue extends WebhookCalls {
  /** Called after the commit that made a delivery; returns the way to stop listening. */
  onEnqueued(listener: () => void): () => void;
}

/**
 * A promise of a writing call resolves after the write is on disk, and each call is atomic. Every call rejects with a
 * `LatticeError` only.
 */
export interface ServiceStore extends StoreCalls {
  /** Sequence number of the newest event at opening. */
  readonly lastSeq: number;
  /** Jobs put back from running to pending at opening. */
  readonly recoveredJobs: number;
  readonly webhooks: WebhookQueue;
  /** Events of each commit, in `seq` order over all calls, before the promises of that commit resolve. */
  onCommitted(listener: (events: JobEvent[]) => void): () => void;
  /** Files of watches that got their results, after the commit. */
  onFilesDone(listener: (files: FileDone[]) => void): () => void;
  /** Why the last write failed; null after one that succeeded. */
  failure(): string | null;
  /** The sizes after the last write. */
  size(): StoreSize;
  /** True once no later write of this process can succeed: only a new process can open the store again. */
  lost(): boolean;
  /** Waits for the calls made before, then gives up the folder. Later calls reject. Idempotent. */
  close(): Promise<void>;
}

/**
 * Takes the data folder, which lies on a local disk: no other process can open it until the store is closed. Puts the
 * jobs of an ended process back in the queue; on a full disk that waits for the first write that fits, and only
 * reads succeed until then. The crash marker of the ended process is kept; the addon, which empties it, is to be opened
 * later. `maxPages` caps the database in pages of 4 KiB; null = the disk. `keptCounts`: see `StoreThreadData`. Rejects
 * with an `Error` for the operator: folder in use, damaged file, later schema, not a local disk, no space for a new
 * store. `onLost` is called once, as `lost` becomes true.
 */
export async function openStore(
  dataDir: string,
  {
    maxPages = null,
    keptCounts = Infinity,
    onLost = () => undefined,
  }: {
    maxPages?: number | null | undefined;
    keptCounts?: number;
    onLost?: (reason: string) => void;
  } = {},
): Promise<ServiceStore> {
  const workerData: StoreThreadData = { dataDir, maxPages, keptCounts };
  const thread = new Worker(new URL('./store-thread.js', import.meta.url), {
    workerData,
    name: 'job-store',
    resourceLimits: { maxYoungGenerationSizeMb: MOST_YOUNG_MB },
  });
  try {
    const [opened] = (await once(thread, 'message')) as [OpeningAnswer];
    if (opened.kind === 'refused') throw new Error(opened.message);
    setCrashMarkerAside(dataDir);
    return storeOf(new StoreConnection(thread, opened, onLost), opened);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
}

interface Waiter {
  resolve: (value: unknown) => void;
  reject: (error: LatticeError) => void;
}

class StoreConnection {
  readonly committed = new Set<(events: JobEvent[]) => void>();
  readonly enqueued = new Set<() => void>();
  readonly filesDone = new Set<(files: FileDone[]) => void>();
  failure: string | null;
  size: StoreSize;
  lost = false;
  readonly #onLost: (reason: string) => void;
  readonly #thread: Worker;
  readonly #waiters = new Map<number, Waiter>();
  #unsent: StoreRequest[] = [];
  #lastId = 0;
  #closed: Promise<void> | null = null;
  #dead: string | null = null;

  constructor(
    thread: Worker,
    { failure, size }: Pick<StoreOpened, 'failure' | 'size'>,
    onLost: (reason: string) => void,
  ) {
    this.#thread = thread;
    this.#onLost = onLost;
    this.failure = failure;
    this.size = size;
    thread.on('message', (message: FromThread) => {
      this.#receive(message);
    });
    thread.on('error', (error) => {
      this.#die(error.message);
    });
    thread.on('exit', () => {
      this.#die('The thread of the job store has ended.');
    });
  }

  call(call: string, args: unknown[]): Promise<unknown> {
    if (this.#dead !== null || this.#closed !== null) {
      return Promise.reject(unavailable(this.#dead ?? 'The job store is closed.'));
    }
    const id = ++this.#lastId;
    // One message for all calls of a turn of the event loop: the hop costs more than most of the calls.
    if (this.#unsent.length === 0) {
      setImmediate(() => {
        this.#flush();
      });
    }
    this.#unsent.push([id, call, args]);
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
    });
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#dead !== null) resolve();
      this.#thread.once('exit', () => {
        resolve();
      });
      this.#flush();
      this.#post({ kind: 'close' });
    });
    return this.#closed;
  }

  #flush(): void {
    if (this.#unsent.length === 0) return;
    this.#post({ kind: 'calls', calls: this.#unsent });
    this.#unsent = [];
  }

  #post(message: ToThread): void {
    this.#thread.postMessage(message);
  }

  #receive(message: FromThread): void {
    if (message.kind === 'committed') {
      this.failure = message.failure;
      this.size = message.size;
      if (message.lost) this.#lose(message.failure ?? '');
      if (message.events.length > 0)
        for (const listener of this.committed) listener(message.events);
      this.#settle(message.results);
      if (message.filesDone.length > 0)
        for (const listener of this.filesDone) listener(message.filesDone);
      if (message.webhooksAdded > 0) for (const listener of this.enqueued) listener();
    } else {
      this.#settle(message.results);
    }
  }

  #settle(results: OperationResult[]): void {
    for (const result of results) {
      const waiter = this.#waiters.get(result.id);
      this.#waiters.delete(result.id);
      if ('failure' in result) waiter?.reject(fromFailure(result.failure));
      else waiter?.resolve(result.value);
    }
  }

  #lose(reason: string): void {
    if (this.lost) return;
    this.lost = true;
    this.#onLost(reason);
  }

  #die(reason: string): void {
    this.#dead ??= reason;
    if (this.#closed === null) {
      this.failure = this.#dead;
      this.#lose(reason);
    }
    for (const waiter of this.#waiters.values()) waiter.reject(unavailable(this.#dead));
    this.#waiters.clear();
  }
}

function unavailable(reason: string): LatticeError {
  return new LatticeError('storage_unavailable', 'The job store is not open.', { cause: reason });
}

function listen<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

function storeOf(connection: StoreConnection, opened: StoreOpened): ServiceStore {
  const { lastSeq, recoveredJobs, calls: names } = opened;
  const calls = Object.fromEntries(
    names.map((name) => [name, (...args: unknown[]) => connection.call(name, args)]),
  ) as unknown as StoreCalls & WebhookCalls;
  return {
    ...calls,
    lastSeq,
    recoveredJobs,
    webhooks: { ...calls, onEnqueued: (listener) => listen(connection.enqueued, listener) },
    onCommitted: (listener) => listen(connection.committed, listener),
    onFilesDone: (listener) => listen(connection.filesDone, listener),
    failure: () => connection.failure,
    size: () => connection.size,
    lost: () => connection.lost,
    close: () => connection.close(),
  };
}
