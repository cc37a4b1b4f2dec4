/** A job as the service keeps it. Wire shapes live in `src/http`; names here are camelCase. */
import { LatticeError, type Problem } from '../api/errors.js';
import type { JobEventName } from '../api/events.js';
import type { JobLabels } from '../api/job-labels.js';
import type { NamedVersion } from '../api/model.js';
import type { LeftOut } from '../api/left-out.js';
import type { DetectOptions } from '../api/options.js';
import type { FileRead } from '../api/file-read.js';
import type { ProcessedImage, RegionCounts } from '../api/image.js';
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
  labels: JobLabels;
  typed: TypedPaths;
  /** Absent in jobs of watches, of the socket and of earlier versions. */
  origin?: JobOrigin | undefined;
  /** The upload beneath which its paths are; absent: they are beneath the image roots. */
  upload?: string;
  /** Files beside its images that it does not have; absent in jobs of earlier versions. */
  leftOut?: LeftOut;
}

/** The request that submitted the job. */
export interface JobOrigin {
  requestId: string;
  /** W3C Trace Context: of the service's span in the trace of the caller. */
  traceparent?: string;
}

/** The paths of a submission as they were typed, before folders and globs are expanded. */
export interface TypedPaths {
  /** The first ones, as many as are stored; at least one. */
  paths: readonly string[];
  /** Of all. */
  count: number;
}

/** What does not depend on the images. */
export type SharedSettings = Omit<JobSettings, 'typed' | 'upload' | 'leftOut' | 'origin'>;

export interface JobSpec extends JobSettings {
  /** Folders and globs expanded. */
  imagePaths: string[];
}

export interface Job {
  jobId: string;
  spec: JobSettings;
  status: JobStatus;
  imageCount: number;
  /** Images that have an entry, ok or error. */
  finishedImages: number;
  /** Those of them that ended in an error. */
  failedImages: number;
  /** Those of them that took over a stored result. */
  reusedImages: number;
  /** What its images with a result ran on: one entry where all workers compute alike and no model file was lost. */
  models: readonly JobModelUse[];
  /** The job whose failed images this one runs again. */
  retryOf: string | null;
  /** The name of the watch that made it. */
  watch: string | null;
  /** Unix seconds, fractional. */
  submittedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  workerId: string;
  /** Set on `failed`. */
  error: Problem | null;
  /** Unix seconds until which `keep` holds by the clock of the request; null where it is no number of days. */
  keptUntil: number | null;
}

export interface JobModelUse extends NamedVersion {
  images: number;
}

/** Boxes of a job by class. */
export type ClassCounts = Readonly<Record<string, number>>;

/**
 * What an image without an outcome is: it waits for its turn, or its job was ended before it had one. All counts, states
 * and results follow this.
 */
export function withoutOutcome({ completedAt }: Pick<Job, 'completedAt'>): 'pending' | 'not_run' {
  return completedAt === null ? 'pending' : 'not_run';
}

/** Images that had no turn before their job was ended. */
export function notRunImages(
  job: Pick<Job, 'completedAt' | 'imageCount' | 'finishedImages'>,
): number {
  return withoutOutcome(job) === 'not_run' ? job.imageCount - job.finishedImages : 0;
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
  | {
      status: 'error';
      error: Problem;
      /** Where it was read. */
      file?: FileRead | undefined;
    };

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
  /** The name of the watch that made the job. */
  watch?: string | null;
  error?: Problem;
  /** With the end of a job. */
  counts?: JobCounted;
}

/** Boxes of a job by class; by region and class where it has regions. */
export interface JobCounted {
  classCounts: Record<string, number>;
  regionCounts?: RegionCounts | undefined;
}

export interface JobFilter {
  status?: JobStatus[] | undefined;
  jobType?: JobType | undefined;
  submittedAfter?: number | undefined;
  submittedBefore?: number | undefined;
  modelName?: string | undefined;
  /** In any letter case. */
  tag?: string | undefined;
  /** Words that the name, the typed paths, the tags, the notes or the title of the metadata have, in any letter case. */
  words?: readonly string[] | undefined;
  /** The name of a watch. */
  watch?: string | undefined;
  keyId?: string | null;
}

/**
 * The order of a list. `submitted`: newest first. `ended`: those that have not ended, then the last to end first. `name`:
 * by title, from A. With `-`, the reverse.
 */
export const JOB_SORTS = ['submitted', '-submitted', 'ended', '-ended', 'name', '-name'] as const;
export type JobSort = (typeof JOB_SORTS)[number];

/** The outcome of an image: boxes, no boxes, an error, none yet, or none because its job was ended. */
export const IMAGE_OUTCOMES = ['found', 'empty', 'failed', 'pending', 'not_run'] as const;

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

/** Orders of the images of a job: that of its input, or by how far their boxes are above their thresholds. */
export const IMAGE_SORTS = ['input', 'margin'] as const;
export type ImageSort = (typeof IMAGE_SORTS)[number];

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

/** Which images of an ended job run again, and on what. */
export interface RetriedRun {
  images: (typeof RETRIED_IMAGES)[number];
  /** Absent: the model of the job. */
  modelName?: string | undefined;
}

/** Identifies a submission; `fingerprint` distinguishes a repeat from another body. */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

export function jobNotFinished(detail: string, retryAfterS = 1): LatticeError {
  return new LatticeError('job_not_finished', detail, { retryAfterS });
}

export function jobNotFound(): LatticeError {
  return new LatticeError('job_not_found', 'There is no such job.');
}
