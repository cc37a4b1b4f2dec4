/** What goes between the main thread and the store's thread. */
import type { JobRecords } from '../job-store.js';
import type { GroupResult } from './group-commit.js';
import type { WebhookRecords } from './webhook-rows.js';

export type StoreCalls = JobRecords & WebhookRecords;
export type StoreCall = keyof StoreCalls;

/** Given to the thread at its start. */
export interface StoreThreadData {
  dataDir: string;
  /** Cap on the database's size in pages of 4 KiB; null = none. */
  maxPages: number | null;
}

/** A call as [id, method, arguments]; sent in bulk, in order. */
export type StoreRequest = [id: number, call: StoreCall, args: unknown[]];

export type ToThread = { kind: 'calls'; calls: StoreRequest[] } | { kind: 'close' };

export interface StoreOpened {
  lease: number;
  lastSeq: number;
  recoveredJobs: number;
}

export type FromThread =
  | ({ kind: 'opened' } & StoreOpened)
  /** The message is for the operator. */
  | { kind: 'refused'; message: string }
  | ({ kind: 'committed' } & GroupResult)
  | { kind: 'read'; results: GroupResult['results'] }
  | { kind: 'closed' };
