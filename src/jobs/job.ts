/** A job as the service keeps it. Wire shapes live in `src/http`; names here are camelCase. */
import { LatticeError, type Problem } from '../api/errors.js';
import type { JobEventName } from '../api/events.js';
import type { DetectOptions } from '../api/options.js';
import type { ProcessedImage } from '../api/image.js';
import type { PictureTime } from '../files/wall-time.js';

export const JOB_TYPES = ['detect_cars', 'detect_vehicles', 'batch_detect'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export const JOB_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Which images of a job may take over a stored result; the first is the default of submissions. */
export const REUSE_MODES = ['off', 'unchanged', 'content'] as const;
export type ReuseMode = (typeof REUSE_MODES)[number];

/** A validated submission with defaults, without its paths: those stay on disk until they are due. */
export interface JobSettings {
  options: DetectOptions;
  jobType: JobType;
  priority: number;
  callbackUrl: string | null;
  /** JSON text of the submitted object, passed through untouched; null when none was given. */
  metadata: string | null;
  annotate: boolean;
  /** unchanged: of files that are as they were. content: also of other files with the same bytes. */
  reuse: ReuseMode;
  /** Owner; null without authentication. */
  keyId: string | null;
}

export interface JobSpec extends JobSettings {
  /** Folders and globs expanded. */
  imagePaths: string[];
}

export interface Job {
  jobId: string;
  spec: JobSettings;
  status: JobStatus;
  imageCount: number;
  /** Path of the first image. */
  firstPath: string;
  /** Images that have an entry, ok or error. */
  finishedImages: number;
  /** Those of them that ended in an error. */
  failedImages: number;
  /** Those of them that took over a stored result. */
  reusedImages: number;
  /** The job whose failed images this one runs again. */
  retryOf: string | null;
  /** Unix seconds, fractional. */
  submittedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  workerId: string;
  /** Set on `failed`. */
  error: Problem | null;
}

/** Finished images / all, 0 to 1. */
export function progressOf({
  finishedImages,
  imageCount,
}: Pick<Job, 'finishedImages' | 'imageCount'>): number {
  return finishedImages / imageCount;
}

/** Outcome of one image of a job, stored as soon as it is known. */
export type ImageOutcome =
  | (ProcessedImage & {
      status: 'ok';
      /** Absent in outcomes that an earlier version stored. */
      model?: string;
      workerId?: string;
      annotatedPath?: string;
      /** The image whose result this is: it ran, and this one did not. */
      reusedFrom?: { jobId: string; index: number };
    })
  | { status: 'error'; error: Problem };

export interface ImageEntry {
  index: number;
  path: string;
  outcome: ImageOutcome | null;
}

/** An entry of the outbox. `seq` grows by one per stored event; `job_progress` is not stored and repeats the last. */
export interface JobEvent {
  event: JobEventName;
  jobId: string;
  status: JobStatus;
  timestamp: number;
  seq: number;
  /** finished images / all, 0 to 1. */
  progress: number;
  /** Images that ended in an error so far. */
  failedImages: number;
  reusedImages: number;
  keyId: string | null;
  error?: Problem;
}

export interface JobFilter {
  status?: JobStatus[] | undefined;
  jobType?: JobType | undefined;
  submittedAfter?: number | undefined;
  submittedBefore?: number | undefined;
  keyId?: string | null;
}

/** The outcome of an image: boxes, no boxes, an error, or none yet. */
export const IMAGE_OUTCOMES = ['found', 'empty', 'failed', 'pending'] as const;

/** An image without its boxes. */
export interface ImageState {
  index: number;
  path: string;
  outcome: (typeof IMAGE_OUTCOMES)[number];
}

/** An image passes if it has the outcome and one of its boxes fits every other given field. */
export interface ImageFilter {
  outcome?: (typeof IMAGE_OUTCOMES)[number] | undefined;
  /** A box of one of these classes; at least one. */
  classes?: readonly string[] | undefined;
  /** A box below this confidence. */
  confidenceBelow?: number | undefined;
}

/** Of the histogram of confidences: step n begins at n / 20. */
export const CONFIDENCE_STEPS = 20;

/** Images of a job by outcome, its boxes by class and step of confidence, and by region and class. */
export interface ImageTally {
  found: number;
  empty: number;
  failed: number;
  boxes: { class: string; step: number; boxes: number }[];
  /** Every region has a row without class and boxes too. */
  regions: { region: string; class: string; boxes: number }[];
}

/** What images of a job are counted together by. */
export const GROUPINGS = ['image', 'folder', 'hour', 'day'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** An image that has ended, as it counts. */
export interface ImageCounts {
  index: number;
  path: string;
  failed: boolean;
  classCounts: Readonly<Record<string, number>>;
  /** By region, then by class; empty where no regions were asked for. */
  regionCounts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** When the picture was taken; null where it is not known. */
  taken: PictureTime | null;
}

/** `failed`: those without boxes because of an error or because their job ended first. */
export const RETRIED_IMAGES = ['failed', 'all'] as const;
export type RetriedImages = (typeof RETRIED_IMAGES)[number];

/** Identifies a submission; `fingerprint` distinguishes a repeat from another body. */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

export function jobNotFound(): LatticeError {
  return new LatticeError('job_not_found', 'There is no such job.');
}
