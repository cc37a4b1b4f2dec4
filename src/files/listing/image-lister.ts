/** Examines and lists folders in separate processes, which can be abandoned if they hang. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LatticeError } from '../../api/errors.js';
import type { ListingAnswer, ListingCalls, ListingRequest } from './listing-process.js';

/** A folder too large for this ends the process, not the service. */
const MOST_HEAP_MB = 512;
/** An idle process is ended after this time. */
const IDLE_MS = 60_000;
const MOST_PROCESSES = 8;
/** Of the processes; a root that hangs leaves the others for the other roots. */
const MOST_PER_ROOT = 4;

interface Question {
  request: ListingRequest;
  withinMs: number;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
  /** Time limit of the wait for a process, then of the wait for its answer. */
  timer: NodeJS.Timeout;
}

/** A process and the question that it works on. */
interface Lister {
  child: ChildProcess;
  question: Question | null;
  idle: NodeJS.Timeout | undefined;
}

/**
 * One question per process at a time, so that a volume that hangs or a process that ends takes no other question with
 * it. Processes start with the questions and keep no other process alive.
 */
export class ImageLister {
  readonly #listers = new Set<Lister>();
  #waiting: Question[] = [];

  /**
   * What the call gives. Rejects with `volume_unavailable` where the volume did not answer in time, else with an `Error`:
   * the listing took too long or failed.
   */
  ask<C extends keyof ListingCalls>(
    call: C,
    query: Parameters<ListingCalls[C]>[0],
    withinMs: number,
  ): Promise<Awaited<ReturnType<ListingCalls[C]>>> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== question);
        reject(volumeHangs());
      }, withinMs);
      const request = { call, query };
      const question: Question = { request, withinMs, resolve, reject, timer };
      this.#waiting.push(question);
      this.#next();
    });
  }

  /** Assigns questions to free processes. The time of a question starts when its process gets it. */
  #next(): void {
    const question = this.#waiting.find(
      ({ request }) => this.#countOf(request.query.root) < MOST_PER_ROOT,
    );
    if (question === undefined) return;
    const lister = this.#idle() ?? this.#start();
    if (lister === null) return;
    this.#waiting = this.#waiting.filter((each) => each !== question);
    clearTimeout(lister.idle);
    clearTimeout(question.timer);
    lister.question = question;
    question.timer = setTimeout(() => {
      this.#drop(lister, noAnswer(question.request));
      lister.child.kill('SIGKILL');
    }, question.withinMs);
    // A question that cannot be sent is rejected when the process has ended.
    lister.child.send(question.request, () => undefined);
    this.#next();
  }

  #countOf(root: string): number {
    return [...this.#listers].filter(({ question }) => question?.request.query.root === root)
      .length;
  }

  #idle(): Lister | null {
    return [...this.#listers].find(({ question }) => question === null) ?? null;
  }

  /** Null while the maximum number of processes runs. */
  #start(): Lister | null {
    if (this.#listers.size >= MOST_PROCESSES) return null;
    const child = fork(fileURLToPath(new URL('./listing-process.js', import.meta.url)), {
      execArgv: [...process.execArgv, `--max-old-space-size=${MOST_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const lister: Lister = { child, question: null, idle: undefined };
    this.#listers.add(lister);
    child.on('message', (answer) => {
      this.#settle(lister, answer as ListingAnswer);
    });
    child.on('error', (error) => {
      this.#drop(lister, error);
    });
    child.on('exit', () => {
      this.#drop(lister, new Error('The process of the listing has ended.'));
    });
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
    return lister;
  }

  #settle(lister: Lister, answer: ListingAnswer): void {
    const { question } = lister;
    if (question === null) return;
    if ('hangs' in answer) {
      // The system call holds a thread of that process until it ends.
      this.#drop(lister, volumeHangs());
      lister.child.kill('SIGKILL');
      return;
    }
    clearTimeout(question.timer);
    lister.question = null;
    if ('value' in answer) question.resolve(answer.value as never);
    else question.reject(new Error(answer.failure));
    lister.idle = setTimeout(() => {
      this.#drop(lister, new Error('The process of the listing was idle.'));
    }, IDLE_MS).unref();
    this.#next();
  }

  /** The process gets no further question; its present one is rejected. */
  #drop(lister: Lister, reason: Error): void {
    if (!this.#listers.delete(lister)) return;
    clearTimeout(lister.idle);
    clearTimeout(lister.question?.timer);
    lister.question?.reject(reason);
    if (lister.child.connected) lister.child.disconnect();
    this.#next();
  }
}

export function volumeHangs(): LatticeError {
  return new LatticeError('volume_unavailable', 'The volume does not answer.', { retryAfterS: 10 });
}

/** Only the matcher of a glob can block the process itself. */
function noAnswer({ query }: ListingRequest): Error {
  const isGlob = 'isFolder' in query && !query.isFolder;
  return isGlob ? new Error('The listing did not end in time.') : volumeHangs();
}
