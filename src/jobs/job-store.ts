/**
 * What jobs need from a durable store. A promise of a writing method resolves after the write is on disk, and
 * each call is atomic. Every method rejects with a `LatticeError` only. Times are Unix seconds.
 */
import type { Idempotency, Job, JobEvent, JobFilter, JobSpec } from './job.js';
import type { WebhookQueue } from './webhook-delivery.js';

/** Bits of a task id below the job's number; a job has fewer images than `MAX_IMAGES`. */
export const MAX_IMAGES = 2 ** 20;

/** Names one image of one job in the detector and in the crash marker; at least 2^20. */
export function taskId(jobNumber: number, index: number): number {
  return jobNumber * MAX_IMAGES + index;
}

/** All settings of a job but the paths, which stay on disk until they are due. */
export type JobSettings = Omit<JobSpec, 'imagePaths'>;

export interface StoredJob extends Omit<Job, 'spec'> {
  /** Order of submission, 1 and up, never reused. */
  number: number;
  settings: JobSettings;
}

export interface NewJob {
  jobId: string;
  spec: JobSpec;
  submittedAt: number;
  idempotency: Idempotency | null;
  /** False: only an idempotent repeat is answered, nothing is stored. */
  admit: boolean;
}

export type SubmitOutcome =
  | { kind: 'stored' | 'replayed'; job: StoredJob }
  | { kind: 'key_reused' }
  | { kind: 'not_admitted' };

/** A job that has not ended, as little of it as the order of work needs. */
export interface QueuedJob {
  number: number;
  jobId: string;
  priority: number;
  submittedAt: number;
  imageCount: number;
}

/** An image without an outcome. */
export interface WaitingImage {
  index: number;
  path: string;
  /** How often the process died with this image in hand. */
  deaths: number;
}

export interface StoredImage {
  index: number;
  path: string;
  /** JSON of an `ImageOutcome`. */
  outcome: string | null;
}

export interface NewOutcome {
  index: number;
  ok: boolean;
  /** JSON of an `ImageOutcome`. */
  outcome: string;
}

export interface RecordOutcome {
  /** `stale`: another lease holds the job; `ended`: it has ended or is gone. Nothing was stored for either. */
  kind: 'stored' | 'stale' | 'ended';
  /** Entries that were new; an image keeps its first outcome. */
  stored: number;
  finishedImages: number;
  /** The last image was among them and the job ended with this call. */
  terminal: boolean;
}

export type CancelOutcome =
  | { kind: 'cancelled'; job: StoredJob; from: 'pending' | 'running' }
  | { kind: 'missing' }
  | { kind: 'already_finished' };

export interface JobCounts {
  pending: number;
  running: number;
  /** Images without an outcome in jobs that have not ended. */
  queuedImages: number;
}

/** Ages are limits on `completedAt` and on the time of writing; older goes. */
export interface SweepLimits {
  jobsBefore: number;
  eventsBefore: number;
  keysBefore: number;
}

export interface JobRecords {
  submit(job: NewJob): Promise<SubmitOutcome>;
  find(jobId: string): Promise<StoredJob | null>;
  /** The job that was submitted with this key and body. */
  repeated(keyId: string | null, idempotency: Idempotency): Promise<StoredJob | null>;
  /** Newest first, numbers below `before`. */
  list(filter: JobFilter, limit: number, before: number | null): Promise<StoredJob[]>;
  /**
   * By index from `from` on: at most `limit`, and no more than fill a page of about 128 KiB. Empty only where no
   * image is left.
   */
  images(jobNumber: number, from: number, limit: number): Promise<StoredImage[]>;
  /** In order of submission, numbers above `after`. */
  unfinished(after: number, limit: number): Promise<QueuedJob[]>;
  /** Images without an outcome that the process has died with, of jobs that have not ended. */
  suspects(): Promise<{ jobNumber: number; index: number }[]>;
  /** pending -> running under `lease`; null when the job is not pending any more. */
  start(jobNumber: number, lease: number, workerId: string, at: number): Promise<StoredJob | null>;
  /** Images without an outcome, by index from `from` on. */
  waiting(jobNumber: number, from: number, limit: number): Promise<WaitingImage[]>;
  /** Stores outcomes; with the last one also the end of the job, its event and its webhook. */
  record(
    jobNumber: number,
    lease: number,
    outcomes: NewOutcome[],
    workerId: string,
    at: number,
  ): Promise<RecordOutcome>;
  /** `keyId` null may cancel any job, else its own only. */
  cancel(jobId: string, keyId: string | null, at: number): Promise<CancelOutcome>;
  /** Counts one death for each task; a marker that was charged before changes nothing. */
  chargeDeaths(markerId: string, tasks: number[]): Promise<number>;
  events(after: number, limit: number): Promise<{ events: JobEvent[]; gap: boolean }>;
  counts(): Promise<JobCounts>;
  /** When the oldest job that has not started was submitted; null when there is none. */
  oldestPendingAt(): Promise<number | null>;
  /** One small batch; `more` says that there is work left. */
  sweep(limits: SweepLimits): Promise<{ removedJobIds: string[]; more: boolean }>;
}

export interface JobStore extends JobRecords {
  /** Fencing token of this process run; grows with every opening. */
  readonly lease: number;
  /** Sequence number of the newest event at opening. */
  readonly lastSeq: number;
  /** Jobs put back from running to pending at opening. */
  readonly recoveredJobs: number;
  readonly webhooks: WebhookQueue;
  /** Events of each commit, in `seq` order over all calls, before the promises of that commit resolve. */
  onCommitted(listener: (events: JobEvent[]) => void): () => void;
  /** Why the last write failed; null after one that succeeded. */
  failure(): string | null;
  /** Waits for what was asked before, then gives up the folder. Later calls reject. Idempotent. */
  close(): Promise<void>;
}
