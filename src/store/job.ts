/** A job as the service keeps it. Wire shapes live in `src/http`; names here are camelCase. */
import { LatticeError, type Problem } from '../api/errors.js';
import type { JobEventName } from '../api/events.js';
import type { JobFigures } from '../api/job-figures.js';
import type { JobLabels } from '../api/job-labels.js';
import type { NamedVersion } from '../api/schemas/model.js';
import type { JobType, JobStatus, IMAGE_OUTCOMES, RETRIED_IMAGES } from '../api/job-values.js';
import type { LeftOut } from '../api/left-out.js';
import type { DetectOptions } from '../api/options.js';
import type { FindingKind } from '../cameras/camera-health.js';
import { leastThreshold } from '../boxes/refine-detections.js';
import type { SubmissionFields } from '../api/submission-fields.js';
import type { FileRead } from '../api/schemas/file-read.js';
import type { Detection, ImageSize, ProcessedImage, RegionCounts } from '../api/schemas/image.js';
import type { PictureTime } from '../files/wall-time.js';

/** A validated submission with defaults, without its paths: those stay on disk until they are due. */
export interface JobSettings extends SubmissionFields {
  options: DetectOptions;
  jobType: JobType;
  /** JSON text of the submitted object, passed through untouched; null when none was given. */
  metadata: string | null;
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
  /** See `DetectRequest`. Absent in jobs of earlier versions: they have the boxes of their own question alone. */
  scoreFloor?: number;
  /** The pictures count for the health of their cameras; absent in jobs of no such watch. */
  cameraHealth?: true | undefined;
  /** Pictures of a camera with at most so many seconds between them are one event; absent in jobs of no such watch. */
  eventGapS?: number | undefined;
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
  /** Number of all paths. */
  count: number;
}

/** Settings that do not depend on the images. */
export type SharedSettings = Omit<
  JobSettings,
  'typed' | 'upload' | 'leftOut' | 'origin' | 'scoreFloor' | 'cameraHealth' | 'eventGapS'
>;

export interface JobSpec extends JobSettings {
  /** Folders and globs expanded. */
  imagePaths: string[];
}

export interface Job extends JobFigures {
  jobId: string;
  spec: JobSettings;
  status: JobStatus;
  imageCount: number;
  /** Images that have an entry, ok or error. */
  finishedImages: number;
  /** Models of its images with a result: one entry where all workers compute alike and no model file was lost. */
  models: readonly JobModelUse[];
  /** The job whose failed images this one runs again. */
  retryOf: string | null;
  /** The name of the watch that made it. */
  watch: string | null;
  /** Unix seconds, fractional. */
  submittedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  /** The worker of the newest batch of outcomes. */
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
 * State of an image without an outcome: it waits for its turn, or its job was ended before it had one. All counts,
 * states and results follow this.
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

/** The score above which the job keeps all boxes of its images. */
export function scoreFloorOf({
  options,
  scoreFloor = 1,
}: Pick<JobSettings, 'options' | 'scoreFloor'>): number {
  return Math.min(scoreFloor, leastThreshold(options));
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
      /** The file, if it was read. */
      file?: FileRead | undefined;
    };

export interface ImageEntry {
  index: number;
  path: string;
  outcome: ImageOutcome | null;
  /** Wall time; absent where it is not known or was not read. */
  taken?: string;
}

/** An entry of the outbox. `seq` grows by one per stored event; `job_progress` is not stored and repeats the last. */
export interface JobEvent extends JobFigures {
  event: JobEventName;
  jobId: string;
  status: JobStatus;
  timestamp: number;
  seq: number;
  /** finished images / all, 0 to 1. */
  progress: number;
  keyId: string | null;
  /** The name of the watch that made the job. */
  watch?: string | null;
  error?: Problem;
  /** Only for the end of a job. */
  counts?: JobCounted;
  /** Only for a change at a camera. */
  news?: CameraNews;
}

/** A change at a camera of a watch, told with the job of a picture. Times are seconds of the wall, as if in UTC. */
export type CameraNews = FindingNews | PlaceNews | EventNews;

export interface FindingNews {
  change: 'opened' | 'closed';
  camera: string;
  kind: FindingKind;
  began: number;
  /** The image of the job that began it. */
  index: number;
}

export interface PlaceNews {
  change: 'occupied' | 'left';
  camera: string;
  /** Numbers within the camera. */
  place: number;
  stay: number;
  class: string;
  /** Regions that the box of the vehicle lies in. */
  regions: string[];
  /** In pixels of a picture of this size. */
  box: Detection['box'];
  image: ImageSize;
  since: number;
  lastSeen: number;
  /** The image of the job with which it became certain. */
  index: number;
}

/** An event is over. */
export interface EventNews {
  change: 'ended';
  camera: string;
  first: number;
  last: number;
  images: number;
  /** The largest count of each class in one picture. */
  classes: Record<string, number>;
  /** The picture with the most boxes, of the job. */
  index: number;
}

/** Boxes of a job by class; by region and class where it has regions. */
export interface JobCounted {
  classCounts: Record<string, number>;
  regionCounts?: RegionCounts | undefined;
}

/** An image without its boxes. */
export interface ImageState {
  index: number;
  path: string;
  outcome: (typeof IMAGE_OUTCOMES)[number];
}

/** Images of a job by outcome, its boxes by class and step of confidence, and by region and class. */
export interface ImageTally {
  found: number;
  empty: number;
  failed: number;
  boxes: { class: string; step: number; boxes: number }[];
  /** Every region has a row without class and boxes too. */
  regions: { region: string; class: string; boxes: number }[];
}

/** An image that has ended, as it counts. */
export interface ImageCounts {
  index: number;
  path: string;
  failed: boolean;
  classCounts: Readonly<Record<string, number>>;
  /** Boxes by region, then by class; empty if no regions were asked for. */
  regionCounts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** When the picture was taken; null where it is not known. */
  taken: PictureTime | null;
}

/** A retry: the images of an ended job that run again, and their model. */
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
