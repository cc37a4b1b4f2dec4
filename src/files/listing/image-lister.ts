/** Examines and lists folders in separate processes, which can be abandoned if they hang. */
import { LatticeError } from '../../api/errors.js';
import { limitOwnTime } from '../../base/own-time.js';
import type { FromListing, ListingCalls, ListingRequest } from './listing-process.js';
import {
  LISTING_PROCESSES,
  overloaded,
  type ListingProcess,
  type ListingProcesses,
} from './listing-processes.js';

const MOST_PROCESSES = 8;
/** Limit of the processes for one root; a root that hangs leaves the others for the other roots. */
const MOST_PER_ROOT = 4;
/** So much later than its limit a question is answered on a machine that gives its process too little CPU time. */
const BUSY_MS = 30_000;

interface Question {
  request: ListingRequest;
  withinMs: number;
  askedAt: number;
  /** It has waited for so long for its turn that its volume is at fault if it hangs. */
  isLate: boolean;
  resolve: (value: never) => void;
  reject: (error: Error) => void;
  timers: NodeJS.Timeout[];
}

/**
 * One question per process at a time, so that a volume that hangs or a process that ends takes no other question with
 * it.
 */
export class ImageLister {
  readonly #processes: ListingProcesses;
  readonly #inHand = new Set<Question>();
  #waiting: Question[] = [];
  /** When a root last did not answer. */
  readonly #hangs = new Map<string, number>();

  constructor(processes = LISTING_PROCESSES) {
    this.#processes = processes;
  }

  /**
   * Resolves to the result of the call. Rejects with `volume_unavailable` where the volume did not answer in time: from
   * when the process began, without what it waited for a CPU. With `machine_overloaded` where that was too long. Else
   * with an `Error`: the listing took too long, failed, or its process ended.
   */
  ask<C extends keyof ListingCalls>(
    call: C,
    query: Parameters<ListingCalls[C]>[0],
    withinMs: number,
  ): Promise<Awaited<ReturnType<ListingCalls[C]>>> {
    return new Promise((resolve, reject) => {
      const question: Question = {
        request: { call, query },
        withinMs,
        askedAt: performance.now(),
        isLate: false,
        resolve,
        reject,
        timers: [],
      };
      question.timers = [
        setTimeout(() => {
          question.isLate = true;
          const hungAt = this.#hangs.get(query.root) ?? -Infinity;
          if (hungAt >= question.askedAt) this.#leave(question, volumeHangs());
        }, withinMs),
        setTimeout(() => {
          this.#leave(question, overloaded('questions about folders wait for too long'));
        }, withinMs + BUSY_MS),
      ];
      this.#waiting.push(question);
      this.#next();
    });
  }

  /** It has had no turn. */
  #leave(question: Question, reason: Error): void {
    this.#waiting = this.#waiting.filter((each) => each !== question);
    stopTimers(question);
    question.reject(reason);
  }

  #next(): void {
    if (this.#inHand.size >= MOST_PROCESSES) return;
    const question = this.#waiting.find(
      ({ request }) => this.#countOf(request.query.root) < MOST_PER_ROOT,
    );
    if (question === undefined) return;
    this.#waiting = this.#waiting.filter((each) => each !== question);
    stopTimers(question);
    this.#inHand.add(question);
    this.#processes.take().then(
      (process) => {
        this.#run(question, process);
      },
      (error: unknown) => {
        question.reject(error as Error);
        this.#free(question);
      },
    );
    this.#next();
  }

  #countOf(root: string): number {
    return [...this.#inHand].filter(({ request }) => request.query.root === root).length;
  }

  /** The volume's time starts when the process says that it begins. */
  #run(question: Question, process: ListingProcess): void {
    const { request, withinMs } = question;
    const { root } = request.query;
    let endLimit: (() => void) | null = null;
    const settle = (end: () => void) => {
      endLimit?.();
      stopTimers(question);
      end();
      this.#free(question);
    };
    const giveUp = (reason: Error) => {
      process.end();
      settle(() => {
        question.reject(reason);
      });
      if (isHanging(reason)) this.#hang(root);
    };
    const onMessage = (message: FromListing) => {
      if ('begun' in message) {
        endLimit = limitOwnTime(process.pid, withinMs, () => {
          giveUp(noAnswer(request));
        });
      } else if ('hangs' in message) {
        // The system call holds a thread of that process until it ends.
        giveUp(volumeHangs());
      } else {
        this.#hangs.delete(root);
        process.give();
        settle(() => {
          if ('value' in message) question.resolve(message.value as never);
          else if ('failure' in message) question.reject(new Error(message.failure));
        });
      }
    };
    // The caller waits no longer; a process that works is warm, and only its own time ends it.
    const busy = setTimeout(() => {
      const reason = overloaded('the process that reads folders gets too little CPU time');
      if (endLimit === null) giveUp(reason);
      else question.reject(reason);
    }, withinMs + BUSY_MS);
    question.timers = [busy];
    process.ask(request, {
      onMessage,
      onEnd: (reason) => {
        settle(() => {
          question.reject(reason);
        });
      },
    });
  }

  #free(question: Question): void {
    this.#inHand.delete(question);
    this.#next();
  }

  /** Questions that have waited for the volume as long as those that had a turn need none. */
  #hang(root: string): void {
    this.#hangs.set(root, performance.now());
    for (const question of this.#waiting) {
      if (question.isLate && question.request.query.root === root)
        this.#leave(question, volumeHangs());
    }
  }
}

function stopTimers({ timers }: Question): void {
  for (const timer of timers) clearTimeout(timer);
}

export function volumeHangs(): LatticeError {
  return new LatticeError('volume_unavailable', 'The volume does not answer.', { retryAfterS: 10 });
}

/** The volume is at fault. */
export function isHanging(reason: unknown): boolean {
  return reason instanceof LatticeError && reason.code === 'volume_unavailable';
}

/** Only the matcher of a glob can block the process itself. */
function noAnswer({ query }: ListingRequest): Error {
  const isGlob = 'isFolder' in query && !query.isFolder;
  return isGlob ? new Error('The listing did not end in time.') : volumeHangs();
}

/** Why a question about a folder has no answer, for the caller, who knows it as `name`. */
export function noFolder(name: string, cause: unknown): LatticeError {
  if (!(cause instanceof LatticeError)) {
    const detail = 'The process that reads folders has ended: the machine may lack memory.';
    return new LatticeError('machine_overloaded', detail, { cause, retryAfterS: 10 });
  }
  if (!isHanging(cause)) return cause;
  const detail = `The volume of ${name} does not answer.`;
  return new LatticeError('volume_unavailable', detail, { cause, retryAfterS: 10 });
}
