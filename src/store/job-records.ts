/** Records of the calls of the job store. Times are Unix seconds. */
import type { JobFigures } from '../api/job-figures.js';
import type { PictureLook } from '../api/schemas/image.js';
import type { NamedVersion } from '../api/schemas/model.js';
import type { Allowance } from './allowances.js';
import type { PictureTime, TimeSource } from '../files/wall-time.js';
import type { Idempotency, Job, JobOrigin, JobSpec, RetriedRun } from './job.js';
import type { WatchedFile } from './watched.js';

/** Bits of a task id below the job's number; a job has fewer images than `MAX_IMAGES`. */
export const MAX_IMAGES = 2 ** 20;

/** Names one image of one job in the detector and in the crash marker; at least 2^20. */
export function taskId(jobNumber: number, index: number): number {
  return jobNumber * MAX_IMAGES + index;
}

export interface StoredJob extends Job {
  /** Order of submission, 1 and up, never reused. */
  number: number;
}

/** The position of a job in a sorted list. `key` is null where the number alone orders it. */
export interface ListPosition {
  key: string | number | null;
  number: number;
}

export interface ListedJob {
  job: StoredJob;
  position: ListPosition;
}

export interface Submission {
  jobId: string;
  submittedAt: number;
  idempotency: Idempotency | null;
  /** False: only an idempotent repeat is answered, nothing is stored. */
  admit: boolean;
  /** Allowances of the key; null: no more than the service. A repeat is answered whatever they say. */
  allowed?: JobAllowances | null;
  /** Score floor of the job. */
  scoreFloor?: number;
}

export interface NewJob extends Submission {
  spec: JobSpec;
}

/** A job of files that a watch has found. */
export interface NewWatchedJob extends Submission {
  /** Number of the watch. */
  watch: number;
  files: readonly WatchedFile[];
}

/** A job that this process has started. */
export interface StartedJob {
  job: StoredJob;
  /** Fencing token of this process run: outcomes are stored only with the one that the job was started under. */
  fencingToken: number;
}

export interface NewRetry extends Submission, RetriedRun {
  /** Id of the job whose images are run again. */
  retryOf: string;
  /** Null finds any job, else those of this owner; the new job is the caller's. */
  keyId: string | null;
  origin?: JobOrigin | undefined;
}

export interface Submitted {
  job: StoredJob;
  /** True: the job is that of an earlier submission. */
  replayed: boolean;
}

/** A job that has not ended, with the fields that the order of work needs. */
export interface QueuedJob {
  number: number;
  jobId: string;
  priority: number;
  submittedAt: number;
  imageCount: number;
  /** The model of the last of its images with a new version; absent where none has run. */
  model?: NamedVersion | null;
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
  /** When the picture was taken, as far as it is known; reads of single images leave it out. */
  taken?: string | null;
}

/** The boxes that the network found in an image, packed, and the view of its result as JSON; null: not known. */
export interface StoredFound {
  found: Uint8Array | null;
  view: string | null;
}

export interface FilteredImages {
  images: StoredImage[];
  /** How many images the filter lets through in the whole job. */
  matching: number;
}

/** The keys under which a result is stored and looked for, to reuse it. */
export interface ReuseKeys {
  /** Key of results of the same file in the same state; null when its times cannot tell its state. */
  unchanged: string | null;
  /** Key of results of any file with the same bytes; null when the digest is not known. */
  content: string | null;
}

export interface NewOutcome {
  index: number;
  ok: boolean;
  /** JSON of an `ImageOutcome`. */
  outcome: string;
  /** When the picture was taken, where it is known. */
  taken?: PictureTime | null;
  /** The keys under which the result can be found later. */
  keys?: ReuseKeys | null;
  /** See `packFound`. */
  found?: Uint8Array | null;
  look?: PictureLook | null;
  /** See `ImageResult`. */
  descriptors?: Uint8Array | null;
}

/** A result that an image may take over. */
export interface StoredResult {
  /** JSON of an `ImageOutcome`. */
  outcome: string;
  taken: PictureTime | null;
  workerId: string;
  found: Uint8Array;
}

/** The part of an image that the counts of a job need. */
export interface StoredCounts {
  index: number;
  path: string;
  /** Null: there is no outcome. */
  failed: number | null;
  /** JSON: boxes by class. */
  classCounts: string | null;
  /** JSON: boxes by region and class; null where no regions were asked for. */
  regionCounts: string | null;
  taken: string | null;
  takenFrom: TimeSource | null;
}

export interface RecordedBatch extends JobFigures {
  /** Entries that were new; an image keeps its first outcome. */
  stored: number;
  finishedImages: number;
  /** The last image was among them and the job ended with this call. */
  terminal: boolean;
}

/** A job that was ended before its images were finished. */
export interface EndedEarly {
  job: StoredJob;
  from: 'pending' | 'running';
}

export interface JobCounts {
  pending: number;
  running: number;
  /** Images without an outcome in jobs that have not ended. */
  queuedImages: number;
}

/** How long records are kept, and the present moment. */
export interface KeptTimes {
  /** Unix seconds. */
  now: number;
  /** Seconds since a fixed moment of this process, of a clock that nothing sets. */
  running: number;
  resultTtlHours: number;
  /** How long events and idempotency keys are kept. */
  historyHours: number;
}

/** The result of one batch of a sweep. */
export interface Swept {
  /** Jobs. */
  removed: number;
  /** File names of drawn copies that belong to no job any more. */
  copies: string[];
  /** True: work is left. */
  more: boolean;
}

/** Use of the store by an API key. */
export interface StoreUse {
  /** The key; empty without authentication. */
  owner: string;
  /** About. */
  bytes: number;
  /**
   * The part of `bytes` that neither age nor the bound removes: kept jobs, those that have not ended or wait for a
   * webhook, views.
   */
  staying: number;
  /** Jobs. */
  unfinished: number;
}

/** How much of the store a key may take, as the store is now. */
export interface StoreAllowance {
  allowance: Allowance;
  /** The bound of the store, in bytes. */
  total: number;
  /** True: the store is near its bound, and a key beyond its share waits until there is room. */
  isNear: boolean;
}

/** The limits that a submission is checked against. */
export interface JobAllowances {
  jobs: Allowance | null;
  /** Free places of the queue. */
  freeJobs: number;
  store: StoreAllowance | null;
}

/** Most bytes of the store by owner; null: the service has no quotas. An owner that is not among them has none. */
export type StoreShares = Readonly<Record<string, Pick<Allowance, 'limit' | 'isExplicit'>>> | null;

export interface MadeRoom extends Swept {
  /**
   * Time at which the first of the removed jobs had ended, and the last one in `newest`; null where none was removed.
   */
  oldest: number | null;
  newest: number | null;
  /** Bytes of the tables before. */
  used: number;
}

/** Sizes in bytes. */
export interface StoreSize {
  /** The bytes that the tables use. */
  used: number;
  /** The size of the file, with its free pages, which later rows use. */
  file: number;
}

/** Everything that completed, or was written, before these times is removed. */
export interface SweepLimits {
  jobsBefore: number;
  eventsBefore: number;
  keysBefore: number;
  /** Ledger rows of files missing since before this time are removed; undefined removes none. */
  filesBefore?: number;
}
