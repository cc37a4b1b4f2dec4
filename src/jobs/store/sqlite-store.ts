/** The job store on SQLite, as the main thread sees it: calls go to the store's thread in bulk. */
import { Worker } from 'node:worker_threads';
import { LatticeError } from '../../errors.js';
import type { JobEvent } from '../job.js';
import type { JobStore } from '../job-store.js';
import type { WebhookQueue } from '../webhook-delivery.js';
import { fromFailure } from './sqlite-failure.js';
import type { OperationResult } from './group-commit.js';
import type {
  FromThread,
  StoreCall,
  StoreCalls,
  StoreOpened,
  StoreRequest,
  StoreThreadData,
  ToThread,
} from './store-messages.js';

/** Rejects with an `Error` for the operator: folder in use, damaged file, later schema, not a local disk. */
export async function openSqliteStore(options: StoreThreadData): Promise<JobStore> {
  const thread = new Worker(new URL('./store-thread.js', import.meta.url), {
    workerData: options,
    name: 'job-store',
  });
  try {
    const opened = await new Promise<StoreOpened>((resolve, reject) => {
      thread.once('error', reject);
      thread.once('exit', () => {
        reject(new Error('The thread of the job store ended while it opened the data folder.'));
      });
      thread.once('message', (message: FromThread) => {
        if (message.kind === 'opened') resolve(message);
        else reject(new Error(message.kind === 'refused' ? message.message : message.kind));
      });
    });
    return storeOf(new StoreConnection(thread), opened);
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
  failure: string | null = null;
  private readonly waiters = new Map<number, Waiter>();
  private unsent: StoreRequest[] = [];
  private lastId = 0;
  private closed: Promise<void> | null = null;
  private dead: string | null = null;

  private readonly thread: Worker;

  constructor(thread: Worker) {
    this.thread = thread;
    thread.on('message', (message: FromThread) => {
      this.receive(message);
    });
    thread.on('error', (error) => {
      this.die(error.message);
    });
    thread.on('exit', () => {
      this.die('The thread of the job store has ended.');
    });
  }

  call<K extends StoreCall>(
    call: K,
    ...args: Parameters<StoreCalls[K]>
  ): Promise<Awaited<ReturnType<StoreCalls[K]>>> {
    if (this.dead !== null || this.closed !== null) {
      return Promise.reject(unavailable(this.dead ?? 'The job store is closed.'));
    }
    const id = ++this.lastId;
    // One message for all calls of a tick: the hop costs more than most of the calls.
    if (this.unsent.length === 0) {
      queueMicrotask(() => {
        this.flush();
      });
    }
    this.unsent.push([id, call, args]);
    return new Promise((resolve, reject) => {
      this.waiters.set(id, {
        resolve: (value) => {
          resolve(value as Awaited<ReturnType<StoreCalls[K]>>);
        },
        reject,
      });
    });
  }

  close(): Promise<void> {
    this.closed ??= new Promise((resolve) => {
      if (this.dead !== null) resolve();
      this.thread.once('exit', () => {
        resolve();
      });
      this.flush();
      this.post({ kind: 'close' });
    });
    return this.closed;
  }

  private flush(): void {
    if (this.unsent.length === 0) return;
    this.post({ kind: 'calls', calls: this.unsent });
    this.unsent = [];
  }

  private post(message: ToThread): void {
    this.thread.postMessage(message);
  }

  private receive(message: FromThread): void {
    if (message.kind === 'committed') {
      this.failure = message.failure;
      if (message.events.length > 0)
        for (const listener of this.committed) listener(message.events);
      this.settle(message.results);
      if (message.webhooksAdded > 0) for (const listener of this.enqueued) listener();
    } else if (message.kind === 'read') {
      this.settle(message.results);
    }
  }

  private settle(results: OperationResult[]): void {
    for (const result of results) {
      const waiter = this.waiters.get(result.id);
      this.waiters.delete(result.id);
      if ('failure' in result) waiter?.reject(fromFailure(result.failure));
      else waiter?.resolve(result.value);
    }
  }

  private die(reason: string): void {
    this.dead ??= reason;
    if (this.closed === null) this.failure = this.dead;
    for (const waiter of this.waiters.values()) waiter.reject(unavailable(this.dead));
    this.waiters.clear();
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

function storeOf(connection: StoreConnection, opened: StoreOpened): JobStore {
  const { lease, lastSeq, recoveredJobs } = opened;
  const bind =
    <K extends StoreCall>(call: K) =>
    (...args: Parameters<StoreCalls[K]>) =>
      connection.call(call, ...args);
  const webhooks: WebhookQueue = {
    due: bind('due'),
    nextDueAt: bind('nextDueAt'),
    waitingCount: bind('waitingCount'),
    succeeded: bind('succeeded'),
    retry: bind('retry'),
    replan: bind('replan'),
    gaveUp: bind('gaveUp'),
    forJob: bind('forJob'),
    onEnqueued: (listener) => listen(connection.enqueued, listener),
  };
  return {
    lease,
    lastSeq,
    recoveredJobs,
    webhooks,
    submit: bind('submit'),
    find: bind('find'),
    repeated: bind('repeated'),
    list: bind('list'),
    images: bind('images'),
    unfinished: bind('unfinished'),
    suspects: bind('suspects'),
    start: bind('start'),
    waiting: bind('waiting'),
    record: bind('record'),
    cancel: bind('cancel'),
    chargeDeaths: bind('chargeDeaths'),
    events: bind('events'),
    counts: bind('counts'),
    oldestPendingAt: bind('oldestPendingAt'),
    sweep: bind('sweep'),
    onCommitted: (listener) => listen(connection.committed, listener),
    failure: () => connection.failure,
    close: () => connection.close(),
  };
}
