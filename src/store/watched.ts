/** A watch as the service keeps it, and the files that its ledger knows. */
import { LatticeError } from '../api/errors.js';
import type { ScheduledTime } from '../api/watch-times.js';
import type { SharedSettings } from './job.js';

/** Limit of a service: each watch has a scan of its own. */
export const MOST_WATCHES = 200;

/** Treatment of files that lie in a folder when a watch of it begins. */
export const EXISTING_FILES = ['take', 'leave'] as const;

export interface WatchContent {
  paths: readonly string[];
  settleMs: number;
  intervalMs: number;
  /** Null: always. */
  schedule: readonly ScheduledTime[] | null;
  batch: { maxImages: number; maxWaitS: number };
  existing: (typeof EXISTING_FILES)[number];
  paused: boolean;
  /** Absent in watches of earlier versions: false. */
  cameraHealth?: boolean;
  /** Null or absent: events are not told. */
  eventGapS?: number | null;
  /** The fields of a submission as they were sent, without `metadata`. */
  request: Readonly<Record<string, unknown>>;
  /** The settings that `request` stands for. */
  settings: SharedSettings;
}

export interface StoredWatch extends WatchContent {
  /** Never reused. */
  number: number;
  /** The id of the API key; empty without authentication. */
  owner: string;
  name: string;
  /** Unix seconds. */
  createdAt: number;
  /** Paths of which all present files are in the ledger or were to be submitted. */
  listed: readonly string[];
}

/**
 * Names what a file contains, without reading it: `inode-size-modified`. The inode is 0 on a volume that does not keep
 * the numbers. A rename keeps the version, every write makes another.
 */
export type FileVersion = string;

export interface WatchedFile {
  /** As an image of a job. */
  path: string;
  version: FileVersion;
  /** There are other files of this version: it is one more. */
  isCopy?: boolean;
}

/**
 * State of a file in the ledger. `handled`: nothing is to be done. `back`: the same, of a version that was missing.
 * `deferred`: ask again when images of the watch have got their outcomes. Paths: files of this version were
 * known by these names.
 */
export type Verdict = 'handled' | 'back' | 'deferred' | 'new' | readonly string[];

export interface FileMove {
  from: string;
  to: string;
  version: FileVersion;
}

/** The image of a file of a watch has its outcome. */
export interface FileDone {
  watch: number;
  path: string;
  task: number;
  /** `none`: no version was read, or the one that was read has its result by another name. */
  result: 'ok' | 'failed' | 'none';
}

export interface WatchCounts {
  /** Files whose version is in the ledger and that are not known to be missing. */
  recorded: number;
  /** Images that wait for their outcome. */
  inJob: number;
  /** Jobs that have not ended. */
  openJobs: number;
  /** Images since the watch began. */
  submitted: number;
  succeeded: number;
  failed: number;
}

export function watchNotFound(name: string): LatticeError {
  return new LatticeError('watch_not_found', `There is no watch '${name}'.`);
}
