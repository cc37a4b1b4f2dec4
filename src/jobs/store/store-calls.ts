/** Every call of the store, bound to one database. */
import type { Blocking } from './blocking.js';
import type { Database } from './data-folder.js';
import type { CommitNotes } from './group-commit.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { JobTransitions } from './job-moves.js';
import { JobReads } from './job-reads.js';
import { JobWrites } from './job-writes.js';
import { Retention } from './retention.js';
import { Statements } from './statements.js';
import type { StoreCall, StoreCalls, StoreOpened } from './store-messages.js';
import { WebhookRows } from './webhook-rows.js';

/** Calls that change nothing: they run without a transaction and work on a full disk. */
export const READS: ReadonlySet<StoreCall> = new Set<StoreCall>([
  'find',
  'repeated',
  'list',
  'images',
  'unfinished',
  'suspects',
  'waiting',
  'events',
  'counts',
  'oldestPendingAt',
  'due',
  'nextDueAt',
  'waitingCount',
  'forJob',
]);

export interface BoundCalls {
  opened: StoreOpened;
  calls: Blocking<StoreCalls>;
}

/** Begins a process run: takes the next lease and puts the jobs of the run before back in the queue. */
export function bindCalls(database: Database, notes: CommitNotes): BoundCalls {
  const statements = new Statements(database);
  const transitions = new JobTransitions(statements, notes);
  const reads = new JobReads(statements);
  const keys = new IdempotencyKeys(statements);
  const writes = new JobWrites(statements, transitions, keys);
  const retention = new Retention(statements);
  const webhooks = new WebhookRows(statements);

  database.exec('BEGIN IMMEDIATE');
  const lease = statements.insert(
    "INSERT INTO process_runs (started_at) VALUES (unixepoch('subsec'))",
  );
  const recoveredJobs = transitions.recover();
  database.exec('COMMIT');

  const calls: Blocking<StoreCalls> = {
    submit: (job) => writes.submit(job),
    start: (...args) => writes.start(...args),
    record: (...args) => writes.record(...args),
    cancel: (...args) => writes.cancel(...args),
    chargeDeaths: (...args) => writes.chargeDeaths(...args),
    sweep: (limits) => retention.sweep(limits),
    find: (jobId) => reads.find(jobId),
    repeated: (keyId, idempotency) => {
      const known = keys.find(keyId, idempotency);
      return known?.sameBody === true ? known.job : null;
    },
    list: (...args) => reads.list(...args),
    images: (...args) => reads.images(...args),
    unfinished: (...args) => reads.unfinished(...args),
    suspects: () => reads.suspects(),
    waiting: (...args) => reads.waiting(...args),
    events: (...args) => reads.events(...args),
    counts: () => reads.counts(),
    oldestPendingAt: () => reads.oldestPendingAt(),
    due: (...args) => webhooks.due(...args),
    nextDueAt: () => webhooks.nextDueAt(),
    waitingCount: () => webhooks.waitingCount(),
    succeeded: (...args) => {
      webhooks.succeeded(...args);
    },
    retry: (...args) => {
      webhooks.retry(...args);
    },
    replan: (...args) => {
      webhooks.replan(...args);
    },
    gaveUp: (...args) => {
      webhooks.gaveUp(...args);
    },
    forJob: (jobId) => webhooks.forJob(jobId),
  };
  return { opened: { lease, lastSeq: reads.lastSeq(), recoveredJobs }, calls };
}
