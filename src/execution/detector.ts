/** The port between jobs, HTTP and CLI on one side and whatever runs the network on the other. */
import type { LatticeError } from '../errors.js';
import type { GpuReading } from './gpu-readings.js';

export interface DetectOptions {
  /** `model_name` as in the interface, for example `yolov8n.pt`. */
  modelName: string;
  /** Keep boxes with a score above this, 0 to 1. */
  confidence: number;
  /** Boxes of one class overlapping more than this are merged, 0 to 1. */
  iou: number;
  maxDetections: number;
  /** Class names to keep (matched without letter case); null = all. */
  classes: readonly string[] | null;
}

export interface Detection {
  /** x1, y1, x2, y2 in pixels of the EXIF-oriented source image. */
  box: [number, number, number, number];
  confidence: number;
  class: string;
}

export interface Timings {
  queue: number;
  decode: number;
  preprocess: number;
  inference: number;
  postprocess: number;
}

/** What one image gave. Times in milliseconds. */
export interface ImageResult {
  detections: Detection[];
  image: { width: number; height: number };
  timingsMs: Timings;
  processingTimeMs: number;
  /** The model variant asked for. */
  model: string;
  workerId: string;
  truncated: boolean;
}

export interface DetectRequest {
  /** Unique among live requests of this detector, 1 to 2^53-1; picked by the detector when left out. */
  id?: number;
  path: string;
  options: DetectOptions;
  /** `sync` runs before all `async` work. */
  class: 'sync' | 'async';
  /** Effective priority of async work, 0 to 10. */
  priority?: number;
  /** Milliseconds until the request is answered with `deadline_exceeded`. */
  deadlineMs?: number;
  /** Aborting takes the image out of the queue; the promise rejects with `cancelled`. */
  signal?: AbortSignal;
}

export interface ModelDescription {
  /** Name to use as `model_name`. */
  name: string;
  /** ready: compiled. available: a file is there, loaded on first use. refused: it cannot be used, see `reason`. */
  state: 'ready' | 'available' | 'refused';
  /** Also set while some of the devices that it runs on are out. */
  reason: string | null;
  classes: string[];
  device: string | null;
  precision: string | null;
  input: { width: number; height: number } | null;
  /** About what it takes of its device's memory; null while it is not loaded. */
  memoryBytes: number | null;
  licence: string | null;
  /** True when `models/manifest.json` stands in for a file the user does not have. */
  bundled: boolean;
  isDefault: boolean;
}

/** Runs detection. Safe to call concurrently; every promise settles. */
export interface Detector {
  /** Identifies the worker in results. */
  readonly workerId: string;
  /** Rejects with a `LatticeError`: image, model, deadline, overload or cancel codes. */
  detect(request: DetectRequest): Promise<ImageResult>;
  /** Loads a model ahead of the first request; rejects with `unknown_model` (naming what there is) or `invalid_model`. */
  prepare(modelName: string): Promise<ModelDescription>;
  models(): Promise<ModelDescription[]>;
  /** Bytes of a file beneath the image roots, by the same rules as `detect`. */
  readImage(path: string): Promise<Buffer>;
  stats(): DetectorStats;
  /** Null when healthy, else why the detector cannot be trusted (canary failed, model missing). */
  unhealthy(): LatticeError | null;
  close(): Promise<void>;
}

export interface DetectorStats {
  device: string;
  /** How many GPUs compute; 0 on the CPU. */
  gpus: number;
  precision: string;
  /** Why this device and precision were taken. */
  reason: string;
  queuedSync: number;
  queuedAsync: number;
  /** Bytes of pixels that async images hold while they are decoded, wait for the network or are in it. */
  heldBytes: number;
  /** Image folders whose volume does not answer. */
  hangingFolders: number;
  inFlight: number;
  completed: number;
  failed: number;
  /** Images a second over the last minute of work; 0 before the first. */
  imagesPerSecond: number;
  /** How many async images keep the device busy. */
  suggestedWindow: number;
  /** What each GPU does at this moment; left out on the CPU. */
  gpuReadings?: readonly GpuReading[] | undefined;
}
