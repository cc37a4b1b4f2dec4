/**
 * The thread that owns the database. Takes the calls that have arrived, commits the writes of up to 128 of them
 * with one sync, answers, and repeats: a single call never waits for others, calls that arrive together share the sync.
 *
 * A public method of a class in `bindCalls` is a call: the thread finds it by its name, and the type that the main
 * thread uses follows from it.
 *
 * No module that it loads loads zod: that would be half of the time of its start.
 */
import {
  parentPort,
  receiveMessageOnPort,
  workerData,
  type MessagePort,
} from 'node:worker_threads';
import { AliasReads, AliasWrites } from './alias-rows.js';
import { CameraWrites } from './cameras/camera-writes.js';
import { openDataFolder, type DataFolder } from './data-folder.js';
import {
  CommitNotes,
  GroupCommit,
  type GroupResult,
  type Operation,
  type OperationResult,
} from './group-commit.js';
import type { StoreSize } from './job-records.js';
import { CountReads } from './count-reads.js';
import { DismissalReads, DismissalWrites } from './cameras/dismissed-places.js';
import { ScopeCounts } from './count-rows.js';
import { ImageReads } from './image-rows.js';
import { HealthReads } from './cameras/health-rows.js';
import { JobReads, lastSeq } from './job-reads.js';
import { JobTransitions } from './job-transitions.js';
import { JobWrites } from './job-writes.js';
import { LabelWrites } from './label-rows.js';
import { Retention, sizeOf } from './retention.js';
import { RunningTime } from './running-time.js';
import { ReuseReads } from './reuse-rows.js';
import { toFailure } from './sqlite-failure.js';
import { Statements } from './statements.js';
import { UploadReads, UploadWrites } from './upload-rows.js';
import { UseReads } from './key-use-rows.js';
import { ViewReads, ViewWrites } from './view-rows.js';
import { WatchReads, WatchWrites } from './watch-rows.js';
import { WatchedFiles } from './watched-files.js';
import { WebhookReads, WebhookWrites } from './webhook-rows.js';

/** The data that the thread gets at its start. */
export interface StoreThreadData {
  dataDir: string;
  /** Cap on the database's size in pages of 4 KiB; null = none. */
  maxPages: number | null;
  /** Most rows per owner of counts that outlive their jobs. */
  keptCounts: number;
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
  size: StoreSize;
  /** Names of all calls. */
  calls: string[];
}

/** The first message. A text is for the operator. */
export type OpeningAnswer =
  ({ kind: 'opened' } & StoreOpened) | { kind: 'refused'; message: string };

export type FromThread =
  | ({ kind: 'committed'; size: StoreSize } & GroupResult)
  | { kind: 'read'; results: GroupResult['results'] };

/** The methods of a class as the main thread calls them. */
type Remote<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<R extends Generator<unknown, infer V> ? V : R>
    : never;
};

export type StoreCalls = Remote<JobReads> &
  Remote<ImageReads> &
  Remote<CountReads> &
  Remote<ReuseReads> &
  Remote<JobWrites> &
  Remote<LabelWrites> &
  Remote<ViewReads> &
  Remote<ViewWrites> &
  Remote<DismissalReads> &
  Remote<DismissalWrites> &
  Remote<AliasReads> &
  Remote<AliasWrites> &
  Remote<UploadReads> &
  Remote<UseReads> &
  Remote<UploadWrites> &
  Remote<WatchReads> &
  Remote<WatchWrites> &
  Remote<HealthReads> &
  Remote<CameraWrites> &
  Remote<Retention>;
export type WebhookCalls = Remote<WebhookReads> & Remote<WebhookWrites>;

type Call = (...args: unknown[]) => unknown;

interface CallTable {
  /** Calls that change nothing. They run without a transaction and work on a full disk. */
  reads: Map<string, Call>;
  /** Reads that would make others wait: generators, between whose steps other calls are served. */
  longReads: Map<string, Call>;
  writes: Map<string, Call>;
}

function bindCalls(
  statements: Statements,
  notes: CommitNotes,
  transitions: JobTransitions,
  keptCounts: number,
): CallTable {
  const time = new RunningTime(statements);
  const watched = new WatchedFiles(statements, notes);
  const scopes = new ScopeCounts(statements, keptCounts);
  return {
    reads: methodsOf(
      new JobReads(statements),
      new ImageReads(statements),
      new ReuseReads(statements),
      new ViewReads(statements),
      new DismissalReads(statements),
      new AliasReads(statements),
      new UploadReads(statements),
      new UseReads(statements),
      new WatchReads(statements, watched),
      new HealthReads(statements),
      new WebhookReads(statements),
    ),
    longReads: methodsOf(new CountReads(statements, scopes)),
    writes: methodsOf(
      new JobWrites(statements, transitions, time, watched, scopes),
      new LabelWrites(statements, time, scopes),
      new ViewWrites(statements),
      new DismissalWrites(statements),
      new AliasWrites(statements),
      new UploadWrites(statements),
      new WatchWrites(statements, watched),
      new CameraWrites(statements, transitions),
      new Retention(statements, time, scopes),
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

const GROUP = 128;

interface LongRead {
  id: number;
  steps: Iterator<undefined>;
}

class StoreThread {
  readonly #port: MessagePort;
  readonly #folder: DataFolder;
  readonly #calls: CallTable;
  readonly #commits: GroupCommit;
  readonly #size: () => StoreSize;
  readonly #waiting: StoreRequest[] = [];
  readonly #longReads: LongRead[] = [];
  #closing = false;

  constructor(
    port: MessagePort,
    folder: DataFolder,
    calls: CallTable,
    commits: GroupCommit,
    size: () => StoreSize,
  ) {
    this.#port = port;
    this.#folder = folder;
    this.#calls = calls;
    this.#commits = commits;
    this.#size = size;
    port.on('message', (message: ToThread) => {
      this.#take(message);
      this.#serve();
    });
  }

  #take(message: ToThread): void {
    if (message.kind === 'close') this.#closing = true;
    else this.#waiting.push(...message.calls);
  }

  #serve(): void {
    for (;;) {
      this.#takeArrived();
      if (this.#waiting.length > 0) this.#serveGroup(this.#waiting.splice(0, GROUP));
      else if (this.#longReads.length > 0) this.#stepLongRead();
      else break;
    }
    if (!this.#closing) return;
    this.#folder.release();
    this.#port.close();
  }

  #takeArrived(): void {
    while (this.#waiting.length < GROUP) {
      const arrived = receiveMessageOnPort(this.#port) as { message: ToThread } | undefined;
      if (arrived === undefined) return;
      this.#take(arrived.message);
    }
  }

  #serveGroup(requests: StoreRequest[]): void {
    const { reads, longReads, writes } = this.#calls;
    const toWrite = operationsOf(requests, writes);
    if (toWrite.length > 0) {
      const written = this.#commits.write(toWrite);
      this.#send({ kind: 'committed', ...written, size: this.#size() });
    }
    const toRead = operationsOf(requests, reads);
    if (toRead.length > 0) this.#send({ kind: 'read', results: toRead.map(read) });
    for (const { id, run } of operationsOf(requests, longReads)) {
      this.#longReads.push({ id, steps: run() as LongRead['steps'] });
    }
  }

  /** One step of the read that has waited longest for one. */
  #stepLongRead(): void {
    const long = this.#longReads.shift();
    if (long === undefined) return;
    const { id, steps } = long;
    try {
      const step = steps.next();
      if (step.done === true)
        this.#send({ kind: 'read', results: [{ id, value: step.value as unknown }] });
      else this.#longReads.push(long);
    } catch (error) {
      this.#send({ kind: 'read', results: [{ id, failure: toFailure(error) }] });
    }
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

function operationsOf(requests: StoreRequest[], methods: CallTable['reads']): Operation[] {
  return requests.flatMap(([id, call, args]) => {
    const method = methods.get(call);
    return method === undefined ? [] : [{ id, run: () => method(...args) }];
  });
}

function read({ id, run }: Operation): OperationResult {
  try {
    return { id, value: run() };
  } catch (error) {
    return { id, failure: toFailure(error) };
  }
}

function open(port: MessagePort, { dataDir, maxPages, keptCounts }: StoreThreadData): void {
  const send = (message: OpeningAnswer) => {
    port.postMessage(message);
  };
  try {
    const folder = openDataFolder(dataDir, maxPages);
    send({ kind: 'opened', ...start(port, folder, keptCounts) });
  } catch (error) {
    send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
  }
}

function start(port: MessagePort, folder: DataFolder, keptCounts: number): StoreOpened {
  const notes = new CommitNotes();
  const statements = new Statements(folder.database);
  const transitions = new JobTransitions(statements, notes);
  const calls = bindCalls(statements, notes, transitions, keptCounts);
  const commits = new GroupCommit(folder.database, notes, () => {
    transitions.beginRun();
  });
  const { running } = statements.get(
    "SELECT count(*) AS running FROM jobs WHERE status = 'running'",
  ) as { running: number };
  const failure = commits.begin();
  const size = lastKnown(() => sizeOf(statements));
  new StoreThread(port, folder, calls, commits, size);
  return {
    lastSeq: lastSeq(statements),
    recoveredJobs: running,
    failure,
    size: size(),
    calls: [calls.reads, calls.longReads, calls.writes].flatMap((each) => [...each.keys()]),
  };
}

/** The last known size where it cannot be read at the moment. */
function lastKnown(readSize: () => StoreSize): () => StoreSize {
  let size: StoreSize = { used: 0, file: 0 };
  return () => {
    try {
      size = readSize();
    } catch {
      // A failing disk: the write before has reported it.
    }
    return size;
  };
}

if (parentPort === null) throw new Error('store-thread is started as a worker thread only.');
open(parentPort, workerData as StoreThreadData);
