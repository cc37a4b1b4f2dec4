/**
 * The calls of the job store. A public method of one of these classes is a call: the thread finds it by its name, and
 * the main thread's type follows from it. What crosses between the two threads is here, too.
 */
import type { CommitNotes, GroupResult } from './group-commit.js';
import { ImageReads } from './image-reads.js';
import { JobReads } from './job-reads.js';
import { JobSubmits } from './job-submits.js';
import type { JobTransitions } from './job-transitions.js';
import { JobWrites } from './job-writes.js';
import { Retention } from './retention.js';
import type { Statements } from './statements.js';
import { WebhookReads, WebhookWrites } from './webhook-rows.js';

/** The methods of a class as the main thread calls them. */
type Remote<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

export type JobCalls = Remote<JobReads> &
  Remote<ImageReads> &
  Remote<JobSubmits> &
  Remote<JobWrites> &
  Remote<Retention>;
export type WebhookCalls = Remote<WebhookReads> & Remote<WebhookWrites>;

type Call = (...args: unknown[]) => unknown;

export interface CallTable {
  /** They change nothing: they run without a transaction and work on a full disk. */
  reads: Map<string, Call>;
  writes: Map<string, Call>;
}

export function bindCalls(
  statements: Statements,
  notes: CommitNotes,
  transitions: JobTransitions,
): CallTable {
  return {
    reads: methodsOf(
      new JobReads(statements),
      new ImageReads(statements),
      new WebhookReads(statements),
    ),
    writes: methodsOf(
      new JobSubmits(statements, transitions),
      new JobWrites(statements, transitions),
      new Retention(statements),
      new WebhookWrites(statements, notes),
    ),
  };
}

function methodsOf(...targets: object[]): Map<string, Call> {
  const methods = new Map<string, Call>();
  for (const target of targets) {
    const names = Object.getOwnPropertyNames(Object.getPrototypeOf(target));
    for (const name of names.filter((each) => each !== 'constructor')) {
      methods.set(name, (Reflect.get(target, name) as Call).bind(target));
    }
  }
  return methods;
}

/** Given to the thread at its start. */
export interface StoreThreadData {
  dataDir: string;
  /** Cap on the database's size in pages of 4 KiB; null = none. */
  maxPages: number | null;
}

/** A call as [id, method, arguments]; sent in bulk, in order. */
export type StoreRequest = [id: number, call: string, args: unknown[]];

export type ToThread = { kind: 'calls'; calls: StoreRequest[] } | { kind: 'close' };

export interface StoreOpened {
  /** Sequence number of the newest event at opening. */
  lastSeq: number;
  /** Jobs of an earlier process run that were running; they are pending again. */
  recoveredJobs: number;
  /** Why nothing can be written at the moment: the disk is full. */
  failure: string | null;
  /** Names of all calls. */
  calls: string[];
}

export type FromThread =
  | ({ kind: 'opened' } & StoreOpened)
  /** The message is for the operator. */
  | { kind: 'refused'; message: string }
  | ({ kind: 'committed' } & GroupResult)
  | { kind: 'read'; results: GroupResult['results'] };
