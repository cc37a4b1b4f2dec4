/** Many operations, one sync: runs a group of writes in one transaction. */
import type { JobEvent } from './job.js';
import type { FileDone } from './watched.js';
import type { Database } from './schema.js';
import {
  isFull,
  isLasting,
  isStorageError,
  storageUnavailable,
  toFailure,
  type StoreFailure,
} from './sqlite-failure.js';

export interface Operation {
  id: number;
  run: () => unknown;
}

export type OperationResult =
  { id: number; value: unknown } | { id: number; failure: StoreFailure };

export interface GroupResult {
  results: OperationResult[];
  /** Events that the group stored, by `seq`. */
  events: JobEvent[];
  webhooksAdded: number;
  /** Files of watches that got their results. */
  filesDone: FileDone[];
  /** Null when the group is on disk. */
  failure: string | null;
  /** No later write of this process succeeds. */
  lost: boolean;
}

/** Notes that the operations of a transaction leave for after its commit. */
export class CommitNotes {
  events: JobEvent[] = [];
  webhooksAdded = 0;
  filesDone: FileDone[] = [];

  clear(): void {
    this.events = [];
    this.webhooksAdded = 0;
    this.filesDone = [];
  }
}

export class GroupCommit {
  readonly #database: Database;
  readonly #notes: CommitNotes;
  readonly #beginRun: () => void;
  #begun = false;
  /** Set by a failure after which no write can be trusted. */
  #lasting: string | null = null;

  /** `beginRun` runs in a transaction of its own, before all others. */
  constructor(database: Database, notes: CommitNotes, beginRun: () => void) {
    this.#database = database;
    this.#notes = notes;
    this.#beginRun = beginRun;
  }

  /** Null, or the error of a full disk: then the first group that fits begins the run. Throws any other failure. */
  begin(): string | null {
    try {
      this.#begin();
      return null;
    } catch (error) {
      this.#rollBack();
      if (!(error instanceof Error) || !isFull(error)) throw error;
      return error.message;
    }
  }

  /** Never throws. Either every operation that has a value is on disk, or none is. */
  write(operations: Operation[]): GroupResult {
    if (this.#lasting !== null) return this.#refuse(operations, this.#lasting);
    this.#notes.clear();
    try {
      this.#begin();
      const results = this.#runTogether(operations) ?? this.#runApart(operations);
      this.#database.exec('COMMIT');
      return { results, ...this.#taken(), failure: null, lost: false };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#rollBack();
      this.#notes.clear();
      if (isLasting(error)) this.#lasting = reason;
      if (isFull(error) && operations.length > 1) return this.#writeEach(operations);
      return this.#refuse(operations, reason);
    }
  }

  #begin(): void {
    if (this.#begun) return;
    this.#database.exec('BEGIN IMMEDIATE');
    this.#beginRun();
    this.#database.exec('COMMIT');
    this.#begun = true;
  }

  /** A submit of many images may not fit on a disk on which smaller calls still fit. */
  #writeEach(operations: Operation[]): GroupResult {
    const groups = operations.map((operation) => this.write([operation]));
    return {
      results: groups.flatMap((group) => group.results),
      events: groups.flatMap((group) => group.events),
      webhooksAdded: groups.reduce((sum, group) => sum + group.webhooksAdded, 0),
      filesDone: groups.flatMap((group) => group.filesDone),
      failure: groups.find((group) => group.failure !== null)?.failure ?? null,
      lost: this.#lasting !== null,
    };
  }

  /**
   * Null where an operation has failed by itself: nothing is done. SQLite copies the pages that change within a
   * savepoint, from 64 KiB on into a file that it makes and removes, so only groups that need savepoints have them.
   */
  #runTogether(operations: Operation[]): OperationResult[] | null {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      return operations.map(({ id, run }) => ({ id, value: run() }));
    } catch (error) {
      if (isStorageError(error) || !this.#database.isTransaction) throw error;
      this.#database.exec('ROLLBACK');
      this.#notes.clear();
      return null;
    }
  }

  #runApart(operations: Operation[]): OperationResult[] {
    this.#database.exec('BEGIN IMMEDIATE');
    return operations.map((operation) => this.#runOne(operation));
  }

  /** An operation that fails by itself is undone alone; a failure of the disk undoes the group. */
  #runOne({ id, run }: Operation): OperationResult {
    const events = this.#notes.events.length;
    const { webhooksAdded } = this.#notes;
    const filesDone = this.#notes.filesDone.length;
    this.#database.exec('SAVEPOINT operation');
    try {
      const value = run();
      this.#database.exec('RELEASE operation');
      return { id, value };
    } catch (error) {
      if (isStorageError(error) || !this.#database.isTransaction) throw error;
      this.#database.exec('ROLLBACK TO operation; RELEASE operation');
      this.#notes.events.length = events;
      this.#notes.webhooksAdded = webhooksAdded;
      this.#notes.filesDone.length = filesDone;
      return { id, failure: toFailure(error) };
    }
  }

  #taken(): { events: JobEvent[]; webhooksAdded: number; filesDone: FileDone[] } {
    const { events, webhooksAdded, filesDone } = this.#notes;
    this.#notes.clear();
    return { events, webhooksAdded, filesDone };
  }

  #refuse(operations: Operation[], reason: string): GroupResult {
    const failure = storageUnavailable(reason);
    return {
      results: operations.map(({ id }) => ({ id, failure })),
      events: [],
      webhooksAdded: 0,
      filesDone: [],
      failure: reason,
      lost: this.#lasting !== null,
    };
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself.
    }
  }
}
