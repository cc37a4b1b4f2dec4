/**
 * The thread that owns the database. Takes whatever calls have arrived, commits the writes of up to 128 of them
 * with one sync, answers, and looks again: a lone call never waits for company, a crowd shares the sync.
 */
import {
  parentPort,
  receiveMessageOnPort,
  workerData,
  type MessagePort,
} from 'node:worker_threads';
import { openDataFolder, type DataFolder } from './data-folder.js';
import { CommitNotes, GroupCommit, type Operation, type OperationResult } from './group-commit.js';
import { toFailure } from './sqlite-failure.js';
import { READS, bindCalls, type BoundCalls } from './store-calls.js';
import type { FromThread, StoreRequest, StoreThreadData, ToThread } from './store-messages.js';

const GROUP = 128;

class StoreThread {
  private readonly waiting: StoreRequest[] = [];
  private closing = false;

  private readonly port: MessagePort;
  private readonly folder: DataFolder;
  private readonly bound: BoundCalls;
  private readonly commits: GroupCommit;

  constructor(port: MessagePort, folder: DataFolder, bound: BoundCalls, commits: GroupCommit) {
    this.port = port;
    this.folder = folder;
    this.bound = bound;
    this.commits = commits;
    port.on('message', (message: ToThread) => {
      this.take(message);
      this.serve();
    });
  }

  private take(message: ToThread): void {
    if (message.kind === 'close') this.closing = true;
    else this.waiting.push(...message.calls);
  }

  private serve(): void {
    for (;;) {
      this.takeArrived();
      if (this.waiting.length === 0) break;
      this.serveGroup(this.waiting.splice(0, GROUP));
    }
    if (!this.closing) return;
    this.folder.release();
    this.send({ kind: 'closed' });
    this.port.close();
  }

  private takeArrived(): void {
    while (this.waiting.length < GROUP) {
      const arrived = receiveMessageOnPort(this.port) as { message: ToThread } | undefined;
      if (arrived === undefined) return;
      this.take(arrived.message);
    }
  }

  private serveGroup(requests: StoreRequest[]): void {
    const writes = requests.filter(([, call]) => !READS.has(call));
    if (writes.length > 0) {
      const group = this.commits.write(writes.map((request) => this.operation(request)));
      this.send({ kind: 'committed', ...group });
    }
    const reads = requests.filter(([, call]) => READS.has(call));
    if (reads.length === 0) return;
    const results = reads.map((request) => read(this.operation(request)));
    this.send({ kind: 'read', results });
  }

  private operation([id, call, args]: StoreRequest): Operation {
    const method = this.bound.calls[call] as (...args: unknown[]) => unknown;
    return { id, run: () => method(...args) };
  }

  private send(message: FromThread): void {
    this.port.postMessage(message);
  }
}

function read({ id, run }: Operation): OperationResult {
  try {
    return { id, value: run() };
  } catch (error) {
    return { id, failure: toFailure(error) };
  }
}

function open(port: MessagePort, { dataDir, maxPages }: StoreThreadData): void {
  const send = (message: FromThread) => {
    port.postMessage(message);
  };
  try {
    const folder = openDataFolder(dataDir, maxPages);
    const notes = new CommitNotes();
    const bound = bindCalls(folder.database, notes);
    new StoreThread(port, folder, bound, new GroupCommit(folder.database, notes));
    send({ kind: 'opened', ...bound.opened });
  } catch (error) {
    send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
  }
}

if (parentPort === null) throw new Error('store-thread is started as a worker thread only.');
open(parentPort, workerData as StoreThreadData);
