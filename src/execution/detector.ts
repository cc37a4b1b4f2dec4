/** The port between jobs, HTTP and CLI on one side and what runs the network on the other. */
import type { DetectOptions } from '../api/options.js';
import type { DetectorStats } from '../api/schemas/statistics.js';
import type { ImageResult } from '../api/schemas/image.js';
import type { ModelDescription, ModelVersion, NamedVersion } from '../api/schemas/model.js';
import type { LatticeError } from '../api/errors.js';
import type { DecodeImage } from '../files/readable-picture.js';

export interface DetectRequest {
  /** Unique among live requests of this detector, 1 to 2^53-1; picked by the detector when left out. */
  id?: number;
  /** Path of a file beneath the image roots; with `image` only its name. */
  path: string;
  /** The encoded image itself, when it is not in a file. Not copied: it must not change any more. */
  image?: Buffer;
  options: DetectOptions;
  /** The key whose picture it is; reports name the picture to nobody else. Absent without authentication. */
  keyId?: string;
  /** The version that the model's name stood for when the job began; without it, the present one. */
  model?: NamedVersion;
  /** Whether the result says the digest of the file. */
  digest?: boolean;
  /**
   * The result has `found`: all boxes above this score, whatever the options ask for. Absent: only the boxes that are
   * asked for.
   */
  scoreFloor?: number;
  /** Whether the result has the look of the picture. */
  look?: boolean;
  /** The boxes of `found` above this confidence have descriptors. Absent: none has. */
  descriptorsAbove?: number;
  /** `sync` runs before all `async` work. */
  kind: 'sync' | 'async';
  /** Effective priority of async work, 0 to 10. */
  priority?: number;
  /** Milliseconds until the request is answered with `deadline_exceeded`. */
  deadlineMs?: number;
  /** Aborting takes the image out of the queue; the promise rejects with `cancelled`. */
  signal?: AbortSignal;
}

/** Runs detection. Safe to call concurrently; every promise settles. */
export interface Detector {
  /** Identifies the worker in results. */
  readonly workerId: string;
  /**
   * Rejects with a `LatticeError`: image, model, deadline, overload or cancel codes; `model_changed` where `model` is
   * gone.
   */
  detect(request: DetectRequest): Promise<ImageResult>;
  /**
   * Loads a model ahead of the first request; rejects with `unknown_model` (naming what there is) or `invalid_model`.
   * The model that answers for an alias: with a canary the one that `key` falls to.
   */
  prepare(modelName: string, key?: string): Promise<ModelDescription>;
  models(): Promise<ModelDescription[]>;
  /**
   * Takes model files that have changed, also some that were refused; resolves when requests get them, or after a
   * minute.
   */
  reloadModels(): Promise<void>;
  /** Versions that jobs run on, which stay loaded although their files are replaced. The call replaces the list. */
  keepModels(versions: readonly ModelVersion[]): void;
  /** Bytes of a file beneath the image roots, by the same rules as `detect`. */
  readImage(path: string): Promise<Buffer>;
  /** Pixels of an encoded image, by the same rules as `detect`, and with its image codes. */
  decodeImage: DecodeImage;
  stats(): DetectorStats;
  /** Null when healthy, else why the detector cannot be trusted (self-check failed, model missing). */
  unhealthy(): LatticeError | null;
  close(): Promise<void>;
}
