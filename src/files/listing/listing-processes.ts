/**
 * The processes in which folders are read: started when they are needed, handed out for one question at a time, and
 * ended when nobody has needed them for a while. None keeps this process alive.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LatticeError } from '../../api/errors.js';
import type { FromListing, ListingRequest } from './listing-process.js';

/** A folder too large for this ends the process, not the service. */
const MOST_HEAP_MB = 512;
/**
 * V8 lets short-lived objects grow to 48 MB before it removes them. An answer is smaller, and there may be several
 * processes.
 */
const MOST_YOUNG_SEMI_SPACE_MB = 2;
const IDLE_MS = 60_000;
/** A start takes 0.2 s of CPU time, which a busy machine may give in many parts. */
const START_MS = 60_000;

/** Receives the answer to a question, or the end of the process. */
interface Holder {
  onMessage(message: FromListing): void;
  /** The process has ended, and is no longer handed out. */
  onEnd(reason: Error): void;
}

/** One process. Who took it uses it alone until `give` or `end`. */
export interface ListingProcess {
  readonly pid: number;
  /** `holder` hears of it from now on. */
  ask(request: ListingRequest, holder: Holder): void;
  /** It has answered and may be handed out again. */
  give(): void;
  /** It may hang: it is killed. */
  end(): void;
}

interface Waiter {
  resolve: (process: ListingProcess) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

interface Started {
  child: ChildProcess;
  isReady: boolean;
  isTaken: boolean;
  holder: Holder | null;
  /** Until it is ready, then while nobody needs it. */
  timer: NodeJS.Timeout;
}

export class ListingProcesses {
  readonly #all = new Set<Started>();
  readonly #startMs: number;
  #waiters: Waiter[] = [];
  #keepsOne = false;

  constructor(startMs = START_MS) {
    this.#startMs = startMs;
  }

  /** From now on one process is ready before anybody needs it: on a busy machine a start takes seconds. */
  keepOne(): void {
    this.#keepsOne = true;
    if (this.#all.size === 0) this.#start();
  }

  /** A process that is ready. Rejects with `machine_overloaded` where none could be started. */
  take(): Promise<ListingProcess> {
    const free = [...this.#all].find(({ isReady, isTaken }) => isReady && !isTaken);
    if (free !== undefined) return Promise.resolve(this.#handOut(free));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((each) => each !== waiter);
        reject(
          overloaded(`no process that reads folders has started in ${this.#startMs / 1_000} s`),
        );
      }, this.#startMs);
      const waiter: Waiter = { resolve, reject, timer };
      this.#waiters.push(waiter);
      if (this.#waiters.length > this.#starting) this.#start();
    });
  }

  get #starting(): number {
    return [...this.#all].filter(({ isReady }) => !isReady).length;
  }

  #start(): void {
    const child = fork(fileURLToPath(new URL('./listing-process.js', import.meta.url)), {
      execArgv: [
        ...process.execArgv,
        `--max-old-space-size=${MOST_HEAP_MB}`,
        `--max-semi-space-size=${MOST_YOUNG_SEMI_SPACE_MB}`,
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const timer = setTimeout(() => {
      this.#end(started, new Error('It did not start in time.'));
    }, this.#startMs).unref();
    const started: Started = { child, isReady: false, isTaken: true, holder: null, timer };
    this.#all.add(started);
    child.on('message', (message) => {
      const said = message as FromListing;
      if (!('ready' in said)) started.holder?.onMessage(said);
      else {
        started.isReady = true;
        this.#give(started);
      }
    });
    child.on('error', (error) => {
      this.#end(started, error);
    });
    child.on('exit', () => {
      this.#end(started, new Error('The process of the listing has ended.'));
    });
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
  }

  #handOut(started: Started): ListingProcess {
    started.isTaken = true;
    clearTimeout(started.timer);
    const { child } = started;
    return {
      pid: child.pid ?? 0,
      ask: (request, holder) => {
        started.holder = holder;
        // It may have ended since it was handed out.
        if (!this.#all.has(started))
          holder.onEnd(new Error('The process of the listing has ended.'));
        // A request that cannot be sent is rejected when the process has ended.
        else if (child.connected) child.send(request, () => undefined);
      },
      give: () => {
        this.#give(started);
      },
      end: () => {
        started.holder = null;
        this.#end(started, new Error('The process of the listing was ended.'));
      },
    };
  }

  #give(started: Started): void {
    started.holder = null;
    started.isTaken = false;
    clearTimeout(started.timer);
    if (!this.#all.has(started)) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      started.timer = setTimeout(() => {
        if (!this.#keepsOne || this.#all.size > 1) this.#end(started, new Error('It was idle.'));
      }, IDLE_MS).unref();
      return;
    }
    clearTimeout(waiter.timer);
    waiter.resolve(this.#handOut(started));
  }

  #end(started: Started, reason: Error): void {
    if (!this.#all.delete(started)) return;
    clearTimeout(started.timer);
    const { child, holder, isReady } = started;
    child.kill('SIGKILL');
    if (child.connected) child.disconnect();
    holder?.onEnd(reason);
    if (!isReady) this.#failOne(reason);
    // One that has never been ready would only fail again.
    else if (this.#waiters.length > this.#starting || (this.#keepsOne && this.#all.size === 0))
      this.#start();
  }

  /** A start has failed: of those that wait, nobody else can serve the last one. */
  #failOne(cause: Error): void {
    if (this.#waiters.length <= this.#starting) return;
    const waiter = this.#waiters.pop();
    clearTimeout(waiter?.timer);
    waiter?.reject(overloaded('no process that reads folders can be started', cause));
  }
}

/** For all that read folders: a question waits for no start while any process is free. */
export const LISTING_PROCESSES = new ListingProcesses();

/** `why` is a clause. */
export function overloaded(why: string, cause?: Error): LatticeError {
  return new LatticeError('machine_overloaded', `The machine is overloaded: ${why}.`, {
    cause,
    retryAfterS: 10,
  });
}
